-- A module that is not there is an error of the main chunk.
local ok, why = pcall(require, "no.such.module")
print(ok, why:match("^[^\n]*"))
require("no_such_module_either")
