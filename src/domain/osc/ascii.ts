/** OSC strings are ASCII. */

const replacements: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  ł: 'l',
  Ł: 'L',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '€': 'EUR',
}

/** Transliterates letters with accents. Other characters become question marks, and control characters spaces. */
export function toAscii(text: string): string {
  return Array.from(text.normalize('NFKD').replace(/\p{Mark}/gu, ''), (character) => {
    if (character >= ' ' && character <= '~') return character
    return replacements[character] ?? (/\p{Control}/u.test(character) ? ' ' : '?')
  }).join('')
}
