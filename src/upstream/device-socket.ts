/** A conversation with one device that goes on until somebody ends it: what TCP and UDP have in common. */

export interface DeviceSocket {
  /**
   * What came, in its order; what came together, together. Ends quietly on abort, throws the manufacturer's ApiError
   * when the device is lost.
   */
  readonly messages: AsyncIterable<readonly string[]>
  /** The device's address, as the name it was given resolved. */
  readonly remoteAddress: string
  /** Waits for its turn. Of what does not arrive nobody hears. */
  send(text: string): Promise<void>
  /** Says goodbye and lets go. */
  close(): void
}

export interface DeviceSocketOptions {
  /** From the first moment to the last: an abort ends it at once, with a goodbye. */
  readonly signal: AbortSignal
  /** What is said before letting go, whoever lets go; nothing where it gives none. */
  readonly farewell?: () => string | undefined
}

/** What has come in and waits to be read. */
export interface Inbox {
  readonly messages: AsyncIterable<readonly string[]>
  /** How many wait. */
  readonly size: number
  put(messages: readonly string[]): void
  /** Nothing more comes: what waits can still be read, then this is thrown. */
  fail(error: unknown): void
  /** Nothing more comes, and nobody has to read what waits. */
  end(): void
}

/** `onEmpty`: everything has been read. `onLeft`: the reader is done, one way or the other. */
export function createInbox(hooks: { onEmpty?(): void; onLeft(): void }): Inbox {
  let waiting: string[] = []
  let trouble: { readonly error: unknown } | undefined
  let isEnded = false
  let wake = () => {}

  async function* read(): AsyncGenerator<readonly string[]> {
    try {
      while (!isEnded) {
        if (waiting.length > 0) {
          const messages = waiting
          waiting = []
          hooks.onEmpty?.()
          yield messages
        } else if (trouble !== undefined) throw trouble.error
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      hooks.onLeft()
    }
  }

  return {
    messages: read(),
    get size() {
      return waiting.length
    },
    put(messages) {
      waiting = waiting.length === 0 ? [...messages] : waiting.concat(messages)
      wake()
    },
    fail(error) {
      trouble ??= { error }
      wake()
    },
    end() {
      isEnded = true
      wake()
    },
  }
}
