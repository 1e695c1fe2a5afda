(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name))) @function
(function_definition
  declarator: (pointer_declarator declarator: (pointer_declarator
    declarator: (function_declarator declarator: (_) @name)))) @function
(translation_unit (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(translation_unit
  (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  @function)
(preproc_ifdef (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(preproc_ifdef
  (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  @function)
(declaration_list (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(preproc_function_def name: (_) @name) @function
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @type
(enum_specifier name: (_) @name body: (_)) @type
(type_definition type: [(struct_specifier !name) (union_specifier !name) (enum_specifier !name)]
  declarator: (type_identifier) @name) @class
(type_definition type: [(primitive_type) (sized_type_specifier) (type_identifier)]
  declarator: (type_identifier) @name) @type
(type_definition declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(preproc_def name: (_) @name value: (_)) @constant
((translation_unit (declaration (type_qualifier) @_const
  declarator: (init_declarator declarator: (identifier) @name)) @constant)
  (#match? @_const "^const"))
(comment) @comment

(preproc_include path: (system_lib_string) @from)
(preproc_include path: (string_literal) @near)

(call_expression function: (_) @call)
