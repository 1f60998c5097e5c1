/** Options and output of the process `upstream.ts`. */

export interface UpstreamOptions {
  readonly systems: number
  /** Receivers of each system. */
  readonly receivers: number
  readonly channelsPerReceiver: number
  readonly pushesPerSecond: number
  /** Spreads the receivers evenly over time. Otherwise, all receivers are pushed at once. */
  readonly isSpread?: boolean
  /**
   * Lets the levels of all channels fall and rise together, so that within two seconds every channel becomes too weak, and
   * all recover together. Otherwise, the levels vary without changing a condition.
   */
  readonly fades?: boolean
  /** Announces the changes of this many receivers of the first system, and also pushes battery levels of them. */
  readonly marked?: number
}

export interface UpstreamSystem {
  /** The code of its manufacturer record. */
  readonly code: string
  readonly plugin: string
  readonly config: Readonly<Record<string, unknown>>
  /** The WebSocket that sends the same frames to reference implementations. */
  readonly mirror: string
  /** The devices whose changes are announced. */
  readonly marked: readonly MarkedDevice[]
}

export interface MarkedDevice {
  readonly id: string
  readonly name: string
}

/** A change of the first channel of a receiver. */
export interface Mark {
  readonly type: 'level' | 'battery'
  readonly deviceId: string
  readonly value: number
  /** When it was sent: `process.hrtime` in ms. */
  readonly at: number
}
