/** Which channel a key is about. */

import { isKeyForAnother } from '../parts/keys.ts'

/** Undefined if L was pressed elsewhere; null if another key was pressed, or if it is for something else. */
export function channelAt(event: KeyboardEvent): number | undefined | null {
  if (event.key.toLowerCase() !== 'l' || isKeyForAnother(event)) return null
  const hovered = [...document.querySelectorAll('[data-channel]:hover')].at(-1)
  const element = document.activeElement?.closest('[data-channel]') ?? hovered
  const ofPage = document.querySelector('.detail-now [data-channel]')
  const id = Number((element ?? ofPage)?.getAttribute('data-channel'))
  return id > 0 ? id : undefined
}

export function directionOf(event: KeyboardEvent): -1 | 1 | null {
  if (isKeyForAnother(event)) return null
  return event.key === '[' ? -1 : event.key === ']' ? 1 : null
}

interface Listed {
  readonly channelId: number
}

/** The first follows the last. Null if there is no other. */
export function neighbourOf(cards: readonly Listed[], channelId: number | null, direction: -1 | 1): number | null {
  const at = cards.findIndex((card) => card.channelId === channelId)
  const next = at < 0 ? cards[0] : cards[(at + direction + cards.length) % cards.length]
  return next === undefined || next.channelId === channelId ? null : next.channelId
}
