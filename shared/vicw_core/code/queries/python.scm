(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
(type_alias_statement left: (type) @name) @type
((module (expression_statement (assignment left: (identifier) @name) @constant))
  (#match? @name "^_*[A-Z][A-Z0-9_]*$"))
(decorated_definition) @wrap
(comment) @comment

(module . (comment)* . (expression_statement . (string (string_content) @doc)))
(function_definition body: (block . (expression_statement . (string (string_content) @doc))))
(class_definition body: (block . (expression_statement . (string (string_content) @doc))))

(import_statement name: (dotted_name) @from)
(import_statement name: (aliased_import name: (_) @from alias: (_) @as))
(import_from_statement module_name: (_) @from)
(import_from_statement module_name: (_) @from name: (dotted_name) @imported)
(import_from_statement module_name: (_) @from name: (aliased_import name: (_) @imported alias: (_) @as))

((call function: (_) @call) (#not-eq? @call "super"))
(decorator [(identifier) (attribute)] @call)

