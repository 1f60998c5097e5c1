/** Writes to standard output and standard error, whose reader may have closed the pipe or stopped reading. */

import type { Writable } from 'node:stream'

export interface Output {
  write(text: string): void
  /** Waits until the reader has taken the text. Resolves with false if the reader has closed the pipe. */
  writeAndWait(text: string | Uint8Array): Promise<boolean>
  readonly dropped: number
}

/**
 * Escapes control characters (C0, DEL, C1) except line breaks, and bidirectional overrides: they could move the cursor,
 * rename the window or reorder the text. The escapes are valid in a JSON and in a double-quoted YAML string.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[^\P{Cc}\n]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Writes never wait for the reader: at most `maxBufferedBytes` are buffered, and further writes are dropped. */
export function createOutput(stream: Writable, maxBufferedBytes: number): Output {
  let dropped = 0
  // Without a listener a closed pipe would end the process.
  stream.on('error', () => {})
  return {
    write(text) {
      if (!stream.writable || stream.writableLength > maxBufferedBytes) dropped += 1
      else
        stream.write(text, (error) => {
          if (error) dropped += 1
        })
    },
    writeAndWait: (text) =>
      new Promise((resolve) => {
        if (!stream.writable) return resolve(false)
        // A destroyed stream does not call back for the chunk in progress.
        const onClose = () => resolve(false)
        stream.once('close', onClose)
        stream.write(text, (error) => {
          stream.off('close', onClose)
          resolve(!error)
        })
      }),
    get dropped() {
      return dropped
    },
  }
}
