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
