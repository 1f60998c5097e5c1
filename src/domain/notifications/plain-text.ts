/** Names and other texts from devices, made safe for messages, and the size of messages. */

/** Line breaks, other control characters, and characters that are not visible or change the direction of text. */
const unsafe = /(?:(?![\u200c\u200d])[\s\p{Cc}\p{Cf}])+/gu

/** Returns the text on one line, without control or format characters, at most `maxLength` characters long. */
export function toPlainText(text: string, maxLength: number): string {
  const plain = text
    // More than this cannot remain, and replacing characters in a long text takes long.
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

/** Returns the number of bytes of a text in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4
  }
  return length
}
