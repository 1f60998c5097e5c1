/** A long-lived session with one device over TCP or UDP. */

export interface DeviceSocket {
  /**
   * The received messages in order. Each batch contains all messages that are waiting to be read. Ends without an error
   * on abort, and throws the manufacturer's ApiError when the device is lost.
   */
  readonly messages: AsyncIterable<readonly string[]>
  /** The IP address to which the configured host resolved. */
  readonly remoteAddress: string
  /** Waits for the rate limit. Delivery is not confirmed. */
  send(text: string): Promise<void>
  /** Sends the closing message first. */
  close(): void
}

export interface DeviceSocketOptions {
  /** The device setting that causes refused connections. */
  readonly refusedAdvice?: string
  /** An abort closes the session at any time, after the closing message. */
  readonly signal: AbortSignal
  /** Returns the last message before the socket closes, or undefined. */
  readonly closingMessage?: () => string | undefined
}

/** A queue of received messages. */
export interface Inbox {
  readonly messages: AsyncIterable<readonly string[]>
  /** Counts unread messages. */
  readonly size: number
  push(messages: readonly string[]): void
  /** Yields an empty batch if no message is waiting. */
  nudge(): void
  /** The error is thrown after the unread messages. */
  fail(error: unknown): void
  /** Discards unread messages. */
  end(): void
}

/** `onEmpty` is called whenever all messages have been read, `onClose` when the reader has finished for any reason. */
export function createInbox(hooks: { onEmpty?(): void; onClose(): void }): Inbox {
  let queued: string[] = []
  let isNudged = false
  let failure: { readonly error: unknown } | undefined
  let isEnded = false
  let wake = () => {}

  async function* read(): AsyncGenerator<readonly string[]> {
    try {
      while (!isEnded) {
        if (queued.length > 0 || isNudged) {
          const messages = queued
          queued = []
          isNudged = false
          hooks.onEmpty?.()
          yield messages
        } else if (failure !== undefined) throw failure.error
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      hooks.onClose()
    }
  }

  return {
    messages: read(),
    get size() {
      return queued.length
    },
    push(messages) {
      queued = queued.length === 0 ? [...messages] : queued.concat(messages)
      wake()
    },
    nudge() {
      isNudged = true
      wake()
    },
    fail(error) {
      failure ??= { error }
      wake()
    },
    end() {
      isEnded = true
      wake()
    },
  }
}
