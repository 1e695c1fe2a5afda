(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(macro_definition name: (_) @name) @function
(struct_item name: (_) @name) @class
(union_item name: (_) @name) @type
(enum_item name: (_) @name) @type
(type_item name: (_) @name) @type
(trait_item name: (_) @name) @interface
(mod_item name: (_) @name body: (_)) @module
(source_file [(const_item name: (_) @name) (static_item name: (_) @name)] @constant)
(declaration_list [(const_item name: (_) @name) (static_item name: (_) @name)] @constant)
(impl_item type: (_) @name) @scope
(impl_item trait: (_) @base)
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier) (generic_type)] @base))
(attribute_item) @attribute
[(line_comment) (block_comment)] @comment

(use_declaration argument: (_) @use)
(mod_item name: (identifier) @near !body)
(extern_crate_declaration name: (_) @from)

(call_expression function: (_) @call)
(macro_invocation macro: (_) @call)
(struct_expression name: (_) @call)
