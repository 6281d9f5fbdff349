/** Texts that have broken parsers, stores and pages elsewhere, by what they try. Written for this test. */
export const hostileTexts: readonly string[] = [
  // Nothing, and blanks that are not all trimmed alike.
  ...['', ' ', '\t', '\n', '\r\n', '\u00a0', '\u2003', '\u3000', '\ufeff', '\u200b', '\u2060', '\u180e', '   a   '],
  // What a column, a log line or a header cannot hold.
  ...['\0', 'a\0b', '\u0001\u0002', '\u001b[31m', '\u007f', '\u0085', '\u2028', '\u2029', 'a\r\nSet-Cookie: x=1'],
  // Halves of characters, characters beyond 16 bits, non-characters, private use, tags.
  ...['\ud800', '\udc00', '\udc00\ud800', 'a\udbff', '\u{10ffff}', '\uffff', '\ue000', '\u{e0041}', '\u{1d54f}'],
  // Direction, and what is not seen.
  ...['\u202eabc', '\u2066a\u2069', '\u061c', '\u200fשלום', 'مرحبا\u200d', '\u200c\u200d', '\u00ad'],
  ...['a\u0300\u0301\u0302'],
  // One text in several codings: composed, decomposed, ligature, width, dotless i, sharp s, Kelvin.
  ...['é', 'e\u0301', 'ﬁ', 'Ａ', 'İ', 'ı', 'ß', 'ẞ', 'K', 'Å', 'Å', 'ǆ', '각', '각'],
  // Emoji of one and of many code points.
  ...['😀', '👩‍👩‍👧‍👦', '🏳️‍🌈', '🇩🇪', '🇩', '👍🏿', '1️⃣', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '❤️'],
  // Numbers as text, and words that some reader takes for values.
  ...['0', '-0', '-1', '1e400', '1e-400', '0x10', '017', '1_000', '٣', '½', '９', 'NaN', 'Infinity', '-Infinity'],
  ...['1,5'],
  ...['9007199254740993', '9223372036854775808', '-9223372036854775809', '1'.repeat(400), '.5', '5.', '+5', '1e5'],
  ...['null', 'undefined', 'true', 'false', 'None', 'nil', 'NIL', 'yes', 'on', '[object Object]', '()', '{}', '[]'],
  ...['""'],
  // Names with a meaning in JavaScript, SQL or a file system.
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'length'],
  ...['__defineGetter__'],
  ...['select', 'user', 'order', 'CON', 'NUL', 'aux.txt', '.', '..', '../../etc/passwd', '..\\..\\boot.ini'],
  ...['/dev/null', '~'],
  // Statements, pages, shells, templates, directories, formulas, documents.
  ...[
    "'",
    '"',
    '`',
    '\\',
    '%',
    '_',
    '%_%',
    "';--",
    `' or '1'='1`,
    "'; drop table users; --",
    '$$',
    '$1',
    ':name',
    '?',
    '/*',
  ],
  ...['<b>', '</script><script>alert(1)</script>', '"><img src=x onerror=alert(1)>', 'javascript:alert(1)', '&lt;'],
  ...['&#0;'],
  ...['; ls', '$(id)', '`id`', '| cat', '&& true', '$HOME', '%PATH%', '%s%s%n', '%n', '{0}', '-rf', '--help', '\\x00'],
  ...['{{7*7}}', '${7*7}', '#{7*7}', '<%= 7*7 %>', '{% for a in b %}', '{{', '}}', '{{a.b.c.d}}', '{% raw %}'],
  ...['{{ "a" | x }}'],
  ...['*)(uid=*', '=1+1', '@SUM(A1)', '+cmd', '<!DOCTYPE a [<!ENTITY b "c">]>&b;', '(a+)+$', '[', '*', '\\', '(?'],
  // Addresses.
  ...['http://127.0.0.1/', 'http://[::1]/', 'http://0x7f.1/', 'http://a@b/', 'file:///etc/passwd', 'http://', '//a'],
  ...['gopher://a'],
  ...[
    'https://a.example/\u0000',
    'https://xn--/',
    `https://${'a'.repeat(300)}.example/`,
    'data:text/html,a',
    'mailto:a@b',
  ],
  // Times.
  ...['2026-02-30', '0000-00-00', '9999-12-31T23:59:59.999Z', '-000001-01-01', '+275760-09-13T00:00:00.001Z'],
  ...['2026-13-01'],
  ...['1970-01-01T00:00:00Z', '2016-12-31T23:59:60Z', '24:00', '25:61', '2026-01-01T00:00:00+99:99', 'IST'],
  ...['Etc/GMT+99', 'now'],
  // Sizes.
  ...['a'.repeat(255), 'a'.repeat(256), 'é'.repeat(513), '😀'.repeat(1_025), 'a'.repeat(10_000), ' '.repeat(5_000)],
  ...['{'.repeat(500), '('.repeat(500), '\u0301'.repeat(1_000), 'a,'.repeat(2_000)],
];

/** What may stand where a text, a number, a list or an object was meant. Text of JSON says what JavaScript cannot. */
export const hostileLiterals: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '-1', '1', '0.1', '1e400', '-1e400', '1e-400', '5e-324'],
  ...['1.7976931348623157e308'],
  ...['9007199254740991', '9007199254740993', '9223372036854775807', '9223372036854775808', '2147483648'],
  ...['-2147483649'],
  ...['4294967296', '32768', '65536', `1${'0'.repeat(309)}`, '1.5', '1e21', '123456789012345678901234567890'],
  ...['[]', '{}', '[[]]', '[{}]', '[null]', '{"":""}', '{"a":{"b":{"c":{}}}}', '[1,"a",null,{}]', '{"length":5}'],
  ...['{"then":1}'],
  ...[
    `[${'1,'.repeat(999)}1]`,
    `[${'"a",'.repeat(99)}"a"]`,
    `${'['.repeat(20)}${']'.repeat(20)}`,
    '{"$gt":""}',
    '{"toJSON":1}',
  ],
];

const deep = 100_000;

/** Bodies that a reader of JSON must refuse, or take, without falling over: the classes of RFC 8259 and round about. */
export const hostileBodies: readonly (string | Buffer)[] = [
  // Nothing, and something beside one value (RFC 8259 §2).
  ...['', ' ', '\n', '{} {}', '{}x', '[1][2]', 'null null', '{}\0', '\f{}', '\u00a0{}', '# a\n{}', '{}//', '/**/{}'],
  // Values and words of others (§3).
  ...['nul', 'True', 'NULL', 'undefined', 'NaN', '-Infinity', 'Infinity', 'a', "'a'", '`a`', '<a/>', 'a=1&b=2'],
  ...['---\na: 1'],
  // Objects and lists (§4, §5).
  ...['{', '}', '[', ']', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{,}', '{"a" 1}', '{"a":1 "b":2}', '{a:1}'],
  ...["{'a':1}", '{1:1}', '{"a":1,,"b":2}', '{:1}', '[1,]', '[,1]', '[1,,2]', '[1 2]', '[1', '1]', '[}', '{]'],
  ...['[1:2]', '{"a":1}]'],
  ...['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}'],
  ...['{"":1}'],
  // Numbers (§6).
  ...['01', '+1', '.1', '1.', '1e', '1e+', '-', '--1', '0x1', '1_0', '1e400', '-1e400', '0e0', '1E+2', '-0', '１'],
  ...['1.2.3', '1 000'],
  // Texts (§7, §8).
  ...['"', '"a', '"\\', '"\\u', '"\\u00"', '"\\u00g0"', '"\\x41"', '"\\a"', '"\n"', '"\t"', '"\u0001"', '"\\ud800"'],
  ...['"\\udc00"'],
  ...['"\\ud800\\ud800"', '"\\u0000"', '"\u2028"', '"\\/"', '{"a":"\\ud800"}', '{"\\ud800":1}', '{"\\u0000":1}'],
  ...['["\\ud83d"]'],
  ...['\ufeff{}', '\ufeff', '{"a":"\ufeff"}'],
  // Bytes that are not UTF-8 (RFC 3629): alone, cut off, too long, a surrogate, beyond the last character; and others' codings.
  ...[[0xff], [0x22, 0x80, 0x22], [0x22, 0xc3, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]].map(
    (bytes) => Buffer.from(bytes),
  ),
  ...[
    [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
    [0x22, 0xf8, 0x88, 0x80, 0x80, 0x80, 0x22],
    [0x00],
    [0xfe, 0xff, 0, 0x7b, 0, 0x7d],
  ].map((bytes) => Buffer.from(bytes)),
  Buffer.from('{"a":1}', 'utf16le'),
  Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xe9]), Buffer.from('"}')]),
  // Depth, breadth and length.
  ...[
    '['.repeat(deep),
    '{"a":'.repeat(deep),
    `${'['.repeat(deep)}${']'.repeat(deep)}`,
    `${'['.repeat(33)}${']'.repeat(33)}`,
  ],
  ...[`[${'1,'.repeat(20_000)}1]`, `{${Array.from({ length: 6_000 }, (_, index) => `"${index}":1`).join()}}`],
  ...[
    `"${'a'.repeat(200_000)}"`,
    `${' '.repeat(100_000)}{}`,
    '1'.repeat(100_000),
    `{"a":"${'\\u0061'.repeat(20_000)}"}`,
  ],
];
