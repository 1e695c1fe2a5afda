(namespace_definition name: (_) @name) @module
(class_specifier name: (_) @name body: (_)) @class
(concept_definition name: (_) @name) @type
(alias_declaration name: (_) @name) @type
(function_definition declarator: (reference_declarator (function_declarator declarator: (_) @name))) @function
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @function
(field_declaration
  declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @function
(field_declaration
  declarator: (reference_declarator (function_declarator declarator: (field_identifier) @name))) @function
(field_declaration_list (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
((declaration_list (declaration (type_qualifier) @_const
  declarator: (init_declarator declarator: (identifier) @name)) @constant)
  (#match? @_const "^const"))
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(template_declaration) @wrap

(new_expression type: (_) @call)
