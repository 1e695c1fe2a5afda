(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @function
(assignment_expression left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @function
(class_declaration name: (_) @name) @class
(variable_declarator name: (identifier) @name value: (class)) @class
(program (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant))
(program (export_statement (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @constant)))
(export_statement) @wrap
(lexical_declaration) @wrap
(variable_declaration) @wrap
(comment) @comment

(import_statement source: (string) @from)
(import_statement (import_clause (identifier) @as) source: (string) @from)
(import_statement (import_clause (namespace_import (identifier) @as)) source: (string) @from)
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @imported alias: (_)? @as))) source: (string) @from)
(export_statement source: (string) @from)
((call_expression function: (identifier) @_require arguments: (arguments . (string) @from .))
  (#eq? @_require "require"))
((variable_declarator name: (identifier) @as
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @from .)))
  (#eq? @_require "require"))
((variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @imported)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @from .)))
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string) @from))

((call_expression function: [(identifier) (member_expression)] @call) (#not-eq? @call "require"))
(new_expression constructor: (_) @call)

