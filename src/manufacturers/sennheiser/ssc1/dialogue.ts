/** What is said to a device that speaks SSC 1, and when: who it is first, then subscriptions that are kept alive. Pure. */

import { type Dialogue, datagramForm, type Partner } from '../dialogue.ts'
import {
  failedDependency,
  readMessage,
  type SscRefusal,
  subscriptionTerminated,
  toCancellation,
  toGetter,
  toSubscription,
} from './codec.ts'
import { familyOfProduct, whatItsMacIs, whoItIs } from './families.ts'
import type { Topic } from './family.ts'
import { idPrefix, toObservation } from './translate.ts'

/** A subscription that ends says so once or not at all: it is renewed at a third of its lifetime. */
const lifetimeS = 24
const renewEveryMs = (lifetimeS * 1000) / 3
const retryEveryMs = 2000
/** Whether asking again replaces a subscription or adds one is not documented: it is never asked for more often. */
const leastRenewMs = 1000
/** What is so often asked for in vain is done without. */
const mostTries = 3

/** A topic, and when it is asked for next. */
interface Errand extends Topic {
  askedAt: number
  askAt: number
  tries: number
  isAnswered: boolean
}

export const ssc1 = datagramForm({ start: startDialogue, idPrefix })

export function startDialogue(partner: Partner): Dialogue {
  const values = new Map<string, unknown>()
  const who = toErrand(whoItIs)
  const identity = [who, toErrand(whatItsMacIs)]
  /** Null until it is known who it is. */
  let topics: Errand[] | null = null
  let refusal: string | null = null

  const errands = () => (topics === null ? identity.filter(({ isAnswered }) => !isAnswered) : [who, ...topics])
  const family = () => familyOfProduct(String(values.get('/device/identity/product') ?? ''))

  function beginTopics(): void {
    const isSettled = identity.every(({ isAnswered, tries }) => isAnswered || tries >= mostTries)
    if (topics === null && who.isAnswered && isSettled) topics = family()?.topics.map(toErrand) ?? []
  }

  function hearValue(address: string, value: unknown, now: number): void {
    const before = values.get(address)
    values.set(address, value)
    // Somebody came or went: what the transmitter has to say is asked for anew.
    if (!address.endsWith('warnings') || String(before) === String(value)) return
    const about = topics?.find(({ addresses }) => addresses.includes(address))
    for (const errand of topics ?? []) if (errand.channel === about?.channel && errand !== about) hasten(errand, now)
  }

  function hearRefusal({ address, code, text }: SscRefusal, now: number): void {
    const refused = [...identity, ...(topics ?? [])].flatMap(({ addresses }) =>
      addresses.filter((one) => isWithin(one, address)),
    )
    if (code === subscriptionTerminated) for (const errand of topics ?? []) hasten(errand, now)
    else if (address.startsWith('/osc')) refusal = `it refuses the subscription (${code} ${text})`
    else if (code === failedDependency) for (const one of refused) values.set(one, null)
    // A smaller device has fewer channels; one that was there is not gone for good.
    else if (code === 404) {
      const missing = refused.filter((one) => !values.has(one))
      topics = topics?.filter(({ channel }) => !missing.includes(`/rx${channel}/name`)) ?? null
    }
  }

  return {
    get nextTurnAt() {
      return Math.min(...errands().map(({ askAt }) => askAt))
    },
    turn(now) {
      beginTopics()
      const due = errands().filter(({ askAt }) => askAt <= now)
      for (const errand of due) {
        errand.askedAt = now
        errand.askAt = now + (errand.isAnswered ? renewEveryMs : retryEveryMs)
        errand.tries += 1
      }
      return due.map(toText)
    },
    hear(text, now) {
      const told = readMessage(text)
      if (told === null) return 'a datagram is no message of this protocol'
      for (const [address, value] of told.values) hearValue(address, value, now)
      for (const one of told.refusals) hearRefusal(one, now)
      const answered = [...told.values.keys(), ...told.refusals.map(({ address }) => address)]
      for (const errand of [...identity, ...(topics ?? [])]) {
        const isOurs = errand.addresses.some((one) => answered.some((address) => isWithin(one, address)))
        if (errand.isAnswered || !isOurs) continue
        errand.isAnswered = true
        errand.askAt = errand.askedAt + renewEveryMs
      }
      beginTopics()
      return null
    },
    observe() {
      if (topics === null) return null
      const told = topics.flatMap(({ channel }) =>
        channel !== null && values.has(`/rx${channel}/name`) ? channel : [],
      )
      return toObservation(values, { ...partner, channels: [...new Set(told)] })
    },
    get isComplete() {
      return topics?.every(({ isAnswered, tries }) => isAnswered || tries >= mostTries) ?? false
    },
    get refusal() {
      return refusal
    },
    farewell: () => toCancellation((topics ?? []).map(({ addresses }) => addresses)),
  }
}

function toErrand(topic: Topic): Errand {
  const never = Number.NEGATIVE_INFINITY
  return { ...topic, askedAt: never, askAt: never, tries: 0, isAnswered: false }
}

function toText({ isAskedOnce, addresses, everyMs }: Topic): string {
  if (isAskedOnce) return toGetter(addresses)
  return toSubscription(addresses, { lifetimeS, count: 1000, minMs: everyMs ?? 0, maxMs: everyMs ?? 0 })
}

function hasten(errand: Errand, now: number): void {
  errand.askAt = Math.min(errand.askAt, Math.max(now, errand.askedAt + leastRenewMs))
}

function isWithin(address: string, branch: string): boolean {
  return address === branch || address.startsWith(`${branch}/`)
}
