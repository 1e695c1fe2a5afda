(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(class name: (_) @name) @class
(module name: (_) @name) @module
(program (assignment left: (constant) @name) @constant)
(body_statement (assignment left: (constant) @name) @constant)
(superclass (_) @base)
((class body: (body_statement (call !receiver method: (identifier) @_mixed arguments: (argument_list (constant) @base))))
  (#any-of? @_mixed "include" "extend" "prepend"))
(comment) @comment

((call !receiver method: (identifier) @_require arguments: (argument_list . (string (string_content) @from) .))
  (#any-of? @_require "require" "load"))
((call !receiver method: (identifier) @_require arguments: (argument_list . (string (string_content) @near) .))
  (#eq? @_require "require_relative"))

((call !receiver method: (identifier) @call)
  (#not-any-of? @call "require" "load" "require_relative" "include" "extend" "prepend"))
(call receiver: (_) @call method: (_) @end)

(body_statement (identifier) @bare)
(block_body (identifier) @bare)
(then (identifier) @bare)
(else (identifier) @bare)
(argument_list (identifier) @bare)
(binary (identifier) @bare)
(assignment right: (identifier) @bare)
(call receiver: (identifier) @bare)
([(if condition: (identifier) @bare) (unless condition: (identifier) @bare) (while condition: (identifier) @bare)])
([(if_modifier (identifier) @bare) (unless_modifier (identifier) @bare)])
[(method_parameters) (block_parameters) (lambda_parameters) (exception_variable)] @bound
(assignment left: (_) @bound)
(operator_assignment left: (_) @bound)
(for pattern: (_) @bound)
(in_clause pattern: (_) @bound)
