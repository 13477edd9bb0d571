-- Commands beyond COM_QUERY, as they come to the script.
function read_query(packet) print(packet:byte(), #packet) end
