(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @receiver)) name: (_) @name) @function
(type_spec name: (_) @name type: (struct_type)) @class
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name
  type: [(type_identifier) (qualified_type) (function_type) (map_type) (slice_type) (array_type) (pointer_type)
         (channel_type) (generic_type)]) @type
(type_alias name: (_) @name) @type
(method_elem name: (_) @name) @function
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(type_declaration) @wrap
(const_declaration) @wrap
(comment) @comment

(field_declaration !name type: (_) @base)
(interface_type (type_elem . [(type_identifier) (qualified_type)] @base .))

(import_spec !name path: (_) @from)
(import_spec name: (_) @as path: (_) @from)

(call_expression function: (_) @call)
(composite_literal type: [(type_identifier) (qualified_type)] @call)
