(namespace_declaration name: (_) @name) @module
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @type
(delegate_declaration name: (_) @name) @type
(method_declaration name: (_) @name) @function
(constructor_declaration name: (_) @name) @function
(local_function_statement name: (_) @name) @function
((field_declaration (modifier) @_const
  (variable_declaration (variable_declarator name: (_) @name))) @constant
  (#eq? @_const "const"))
(base_list [(identifier) (generic_name) (qualified_name)] @base)
(comment) @comment

(using_directive !name [(identifier) (qualified_name)] @from)
(using_directive name: (_) @as [(identifier) (qualified_name)] @from .)

(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @call)
