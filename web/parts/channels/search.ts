/** Searches channels, slots and other items by words. */

import type { ChannelFacts } from '../../app/channel-state.ts'

/** Kept, because a search reads the texts of all channels at each key. */
const texts = new WeakMap<ChannelFacts, string>()

/** In lower case. */
export function textOf(card: ChannelFacts): string {
  const known = texts.get(card)
  if (known !== undefined) return known
  const { slot, title, ownName, label, role, receiverName, receiverModel, frequency, manufacturer, site } = card
  const parts = [slot, title, ownName, label, role, receiverName, receiverModel, frequency, manufacturer, site?.name]
  const text = parts.join(' ').toLocaleLowerCase()
  texts.set(card, text)
  return text
}

/**
 * Tests a text in lower case. Every word must occur. Digits match only whole numbers, so that 12 finds slot 12 and pack
 * H12 but not 512.000 MHz. A word with a dot also matches a part of the IP address.
 */
export function searchFor(q: string): (text: string, ip: string | null) => boolean {
  const words = q.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  const tests = words.map((word): ((text: string, ip: string | null) => boolean) => {
    if (!/^\d+$/.test(word)) {
      return (text, ip) => text.includes(word) || (word.includes('.') && ip?.includes(word) === true)
    }
    const whole = new RegExp(`(?<!\\d)0*${word}(?!\\d)`)
    // Most texts do not contain the digits, and the expression is ten times slower.
    return (text) => text.includes(word) && whole.test(text)
  })
  return (text, ip) => tests.every((test) => test(text, ip))
}

/**
 * Returns at most `most` matches: first those whose text begins with the query, then those with a word that begins with
 * it. `lowerTextOf` returns the text in lower case.
 */
export function findBest<Item>(
  items: Iterable<Item>,
  lowerTextOf: (item: Item) => string,
  query: string,
  most: number,
): readonly Item[] {
  const matches = searchFor(query)
  const start = query.trim().toLocaleLowerCase()
  const [begins, hasWord, others]: [Item[], Item[], Item[]] = [[], [], []]
  for (const item of items) {
    const text = lowerTextOf(item)
    if (!matches(text, null)) continue
    const found = text.startsWith(start) ? begins : text.includes(` ${start}`) ? hasWord : others
    if (found.length < most) found.push(item)
    if (begins.length === most) break
  }
  return [...begins, ...hasWord, ...others].slice(0, most)
}
