/** Line breaks, other control characters, and characters that are not visible or change the direction of text. */
const unsafe = /(?:(?![\u200c\u200d])[\s\p{Cc}\p{Cf}])+/gu

/** One line of at most `maxLength` characters, without control or format characters. */
export function toPlainText(text: string, maxLength: number): string {
  const plain = text
    // Replacing characters in a long text is slow.
    .slice(0, maxLength * 8)
    .toWellFormed()
    .replace(unsafe, ' ')
    .trim()
  const characters = [...plain]
  return characters.length <= maxLength
    ? plain
    : `${characters
        .slice(0, maxLength - 1)
        .join('')
        .trimEnd()}…`
}

export function utf8Length(text: string): number {
  let length = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
  }
  return length
}
