/** What the page of the line check shows, as it is in the address. */

export interface CheckAddress {
  /** Null: the show is to be chosen. */
  readonly show: number | null
  /** Null: the list of channels. */
  readonly channel: number | null
  readonly order: CheckOrder
}

/** By slot, or what is left to do first: failed channels, then those that are not checked. */
export type CheckOrder = 'slot' | 'open'

export function parseCheck(query: Readonly<Record<string, unknown>>): CheckAddress {
  return {
    show: toId(query.show),
    channel: toId(query.channel),
    order: query.order === 'open' ? 'open' : 'slot',
  }
}

/** Returns the query, without the defaults. */
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
