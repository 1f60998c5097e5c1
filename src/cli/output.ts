/** Standard output and standard error, which others may have closed, filled up or stopped reading. */

import type { Writable } from 'node:stream'

export interface Output {
  write(text: string): void
  /** How many writes came to nothing. */
  readonly dropped: number
}

/**
 * Control characters (C0, DEL, C1) and bidirectional overrides could move the cursor, rename the window or reorder what is
 * read. Only line breaks pass. The escapes mean the same inside a JSON or a double-quoted YAML string.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[^\P{Cc}\n]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Nobody waits for the reader; what waits for him may grow to `maxWaitingBytes`, and what comes then is dropped. */
export function createOutput(stream: Writable, maxWaitingBytes: number): Output {
  let dropped = 0
  // Without a listener a closed pipe would end the process.
  stream.on('error', () => {})
  return {
    write(text) {
      if (!stream.writable || stream.writableLength > maxWaitingBytes) dropped += 1
      else
        stream.write(text, (error) => {
          if (error) dropped += 1
        })
    },
    get dropped() {
      return dropped
    },
  }
}
