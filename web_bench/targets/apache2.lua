-- This part runs once for each thread.
local function send(r, kind, size, piece)
  r.content_type = kind
  r.headers_out["Content-Length"] = tostring(size)
  while size >= #piece do
    r:write(piece)
    size = size - #piece
  end
  if size > 0 then r:write(piece:sub(1, size)) end
  return apache2.OK
end

local PIECE = 8192
local xs = string.rep("x", PIECE)
local begin, finish = "<!DOCTYPE html>\n<title>sitebench</title>\n<p>", "</p>\n"
local characters

local function size(r)
  return tonumber((r.args or ""):match("size=(%d+)")) or 6250
end

-- A page of HTML with so many bytes, as the program of CGI has it.
function constant(r)
  local wanted = size(r)
  local letters = wanted - #begin - #finish
  if letters < 0 then return send(r, "text/html", wanted, xs) end
  r.content_type = "text/html"
  r.headers_out["Content-Length"] = tostring(wanted)
  r:write(begin)
  while letters >= PIECE do
    r:write(xs)
    letters = letters - PIECE
  end
  r:write(xs:sub(1, letters) .. finish)
  return apache2.OK
end

-- Random characters "?" to "X", made once: another part of them for each request.
function random(r)
  if not characters then
    local made = {}
    for i = 1, 2 * PIECE do made[i] = string.char(math.random(63, 88)) end
    characters = table.concat(made)
  end
  local from = math.random(PIECE)
  return send(r, "text/plain", size(r), characters:sub(from, from + PIECE - 1))
end

-- A hundred pages, each compiled on its own, when it is asked for first.
local source = [==[
local date = ...
return [=[@page@]=]
]==]
local pages = {}

function template(r)
  local i = tonumber(r.uri:match("%d+$"))
  pages[i] = pages[i] or load(source)
  local text = pages[i](os.date("%Y-%m-%d"))
  return send(r, "text/html", #text, text)
end
