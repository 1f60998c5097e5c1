export interface CheckAddress {
  /** Null: no show is chosen. */
  readonly show: number | null
  /** Null: the list of channels. */
  readonly channel: number | null
  readonly order: CheckOrder
}

/** `open`: failed channels, then those that are not checked. */
export type CheckOrder = 'slot' | 'open'

export function parseCheck(query: Readonly<Record<string, unknown>>): CheckAddress {
  return {
    show: toId(query.show),
    channel: toId(query.channel),
    order: query.order === 'open' ? 'open' : 'slot',
  }
}

export function checkQuery({ show, channel, order }: CheckAddress): {
  readonly show?: number
  readonly channel?: number
  readonly order?: string
} {
  return { ...(show !== null && { show }), ...(channel !== null && { channel }), ...(order !== 'slot' && { order }) }
}

function toId(value: unknown): number | null {
  const text = String(value ?? '')
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}
