/** Names of devices that try to become something else: markup, mentions, headers, commands, templates or new messages. */

const controls = [
  '\r\n',
  '\n',
  '\r',
  '\t',
  '\0',
  '\u0007',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u000b',
  '\u007f',
]
const bidi = ['\u202e', '\u2066', '\u2069', '\u200f', '\u200b', '\u2060', '\ufeff', '\u00ad', '\u{e0041}', '\u180e']
const surrogates = ['\ud800', '\udc00', '\udfff\ud800', '😀\ud83d', '\udc4d🎤']

const attacks = [
  // SMTP and mail headers.
  '\r\nBcc: victim@evil.example',
  '\r\n.\r\nMAIL FROM:<evil@evil.example>',
  '\n.\n',
  '.\r\nQUIT',
  '\r\n\r\n<html><script>alert(1)</script>',
  '=?utf-8?Q?=0D=0ABcc:_x@evil.example?=',
  '=?utf-8?B?DQpCY2M6IHhAZXZpbC5leGFtcGxl?=',
  '"><a@b.example>',
  'x <victim@evil.example>, y',
  'From evil@evil.example Mon',
  '=0D=0ATo: victim@evil.example',
  'Content-Type: text/html',
  // HTTP.
  '\r\nX-Injected: 1',
  'x\r\nHTTP/1.1 200 OK',
  '%0d%0aSet-Cookie:a=b',
  // JSON.
  '","topic":"other',
  '"}],"x":[{"',
  '\\',
  '\\"',
  '\\u0000',
  '\\u000a',
  '{"$ref":"#"}',
  '__proto__',
  'constructor',
  'toString',
  // Slack.
  '<!channel>',
  '<!here|x>',
  '<@U024BE7LH>',
  '<https://evil.example|click>',
  '&lt;!channel&gt;',
  '&amp;',
  '*bold* _it_ ~s~ `c`',
  '```code```',
  // Discord.
  '@everyone',
  '@here',
  '<@123456789012345678>',
  '<@&123456789012345678>',
  '<#123456789012345678>',
  '<:smile:123456789012345678>',
  '<t:1700000000:R>',
  '</airhorn:123456789012345678>',
  '[text](https://evil.example)',
  '||spoiler||',
  '# Heading',
  '-# small',
  '> quote',
  '>>> quote',
  '1. list',
  '- list',
  '**a** __b__ *c* _d_ ~~e~~',
  // Telegram.
  '@durov',
  '/start',
  '/kick@bot',
  '#hashtag',
  '$USD',
  'tg://user?id=1',
  '<b>x</b><a href="tg://user?id=1">y</a>',
  // Teams.
  '<at>Everyone</at>',
  '{{DATE(2017-02-14T06:08:39Z, SHORT)}}',
  '{{TIME(2017-02-14T06:08:39Z)}}',
  '{{{DATE(2017-02-14T06:08:39Z)}}}',
  ['$', '{variable}'].join(''),
  '@{triggerBody()}',
  // Templates and shells.
  '{{7*7}}',
  '{{ trigger.payload }}',
  '{% include "/etc/passwd" %}',
  '<%= 7*7 %>',
  '#{7*7}',
  '$(reboot)',
  '`reboot`',
  '; rm -rf /',
  '%s%n%x',
  '=cmd()',
  // MQTT.
  '#',
  '+/+',
  '$SYS/broker',
  // HTML.
  '<img src=x onerror=alert(1)>',
  '&#x3c;script&#x3e;',
  ']]>',
  '<!--',
  // Blank and unusual.
  '',
  ' ',
  '\u3000',
  '.',
  '..',
  'null',
  'undefined',
  'é\u0301\u0302\u0303'.repeat(20),
  '👨‍👩‍👧‍👦',
  'Ω'.repeat(100),
  '\u{1f3a4}'.repeat(120),
  '"'.repeat(300),
  '\\'.repeat(300),
  'A'.repeat(70_000),
  '<'.repeat(5000),
  '@everyone '.repeat(400),
  '\n'.repeat(5000),
]

/** Returns 2,000 different names, always the same. */
export function hostileNames(): readonly string[] {
  const names = new Set<string>(attacks)
  const insertions = [...controls, ...bidi, ...surrogates]
  for (const attack of attacks) {
    for (const text of ['Nora ', 'Nora', 'Ünï\u0300']) {
      names.add(text + attack)
      names.add(attack + text)
    }
  }
  for (let index = 0; names.size < 2000; index++) {
    const attack = attacks[index % attacks.length] ?? ''
    const other = attacks[(index * 31 + 7) % attacks.length] ?? ''
    const insertion = insertions[index % insertions.length] ?? ''
    names.add(`${attack.slice(0, 600)}${insertion}${other.slice(0, 600)}`)
    names.add(`${insertion}${attack.slice(0, 600)}${index}`)
  }
  return [...names].slice(0, 2000)
}
