-- Sends the lines of a file as requests, one after the other: method, path, headers as name=value, and the body last, with tabs
-- in between. Begins again when all were sent.
local requests = {}
local place = 0

init = function(arguments)
  for line in io.lines(arguments[1]) do
    local parts = {}
    for part in (line .. "\t"):gmatch("(.-)\t") do parts[#parts + 1] = part end
    local headers = {}
    for number = 3, #parts - 1 do
      local name, value = parts[number]:match("^(.-)=(.*)$")
      headers[name] = value
    end
    requests[#requests + 1] = wrk.format(parts[1], parts[2], headers, parts[#parts])
  end
end

request = function()
  place = place % #requests + 1
  return requests[place]
end
