(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(compact_constructor_declaration name: (_) @name) @function
((field_declaration (modifiers) @_modifiers declarator: (variable_declarator name: (_) @name)) @constant
  (#match? @_modifiers "static") (#match? @_modifiers "final"))
[(line_comment) (block_comment)] @comment

(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))

(import_declaration [(identifier) (scoped_identifier)] @from)

(method_invocation !object name: (_) @call)
(method_invocation object: (_) @call name: (_) @end)
(object_creation_expression type: (_) @call)

