(class_heritage (_) @base)
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @function
