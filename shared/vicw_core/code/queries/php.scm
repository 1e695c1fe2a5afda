(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(trait_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @type
(const_declaration (const_element . (name) @name)) @constant
(base_clause (_) @base)
(class_interface_clause (_) @base)
(use_declaration (_) @base)
(attribute_list) @attribute
(comment) @comment

(namespace_use_declaration (namespace_use_clause . [(name) (qualified_name)] @from alias: (_)? @as))
(namespace_use_declaration
  (namespace_name) @prefix
  body: (namespace_use_group (namespace_use_clause . [(name) (qualified_name)] @from alias: (_)? @as)))
[
  (include_expression (string (string_content) @near))
  (include_once_expression (string (string_content) @near))
  (require_expression (string (string_content) @near))
  (require_once_expression (string (string_content) @near))
  (require_expression (binary_expression right: (string (string_content) @near)))
  (require_once_expression (binary_expression right: (string (string_content) @near)))
]

(function_call_expression function: [(name) (qualified_name)] @call)
(member_call_expression object: (_) @call name: (name) @end)
(nullsafe_member_call_expression object: (_) @call name: (name) @end)
(scoped_call_expression scope: (_) @call name: (name) @end)
(object_creation_expression [(name) (qualified_name)] @call)
