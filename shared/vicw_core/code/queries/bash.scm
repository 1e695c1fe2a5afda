(function_definition name: (_) @name) @function
((program (declaration_command (variable_assignment name: (_) @name) @constant) @_declared)
  (#match? @_declared "^(readonly|declare\\s+-\\w*r)"))
(comment) @comment

((command name: (command_name) @_source . argument: [(word) (string) (raw_string)] @near)
  (#any-of? @_source "source" "."))

((command name: (command_name (word) @call)) (#not-any-of? @call "source" "."))
