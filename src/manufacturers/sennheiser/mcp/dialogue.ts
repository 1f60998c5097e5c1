/** What is said to an ew G3, G4 or 2000 series device, and when. Pure. */

import { type Dialogue, datagramForm, type Partner } from '../dialogue.ts'
import { type McpFacts, readDatagram, toLine, toPushLine } from './codec.ts'
import { idPrefix, toObservation } from './translate.ts'

/** Some firmware forgets a subscription long before its end while RF is muted: asked for again this often. */
const renewEveryMs = 8000
/** A first question may be lost on its way; silent devices are not to be asked often. */
const retryEveryMs = 2500
/** Two renewals may be lost; who is gone is not sent to for long. */
const subscription = { timeoutS: 20, cycleMs: 500, withConfiguration: true }

/** Bound to its own port, which is where these devices answer whoever asks. */
export const mcp = datagramForm({ start: startDialogue, idPrefix, answersToItsOwnPort: true })

export function startDialogue(partner: Partner): Dialogue {
  let facts: Partial<McpFacts> = {}
  let askAt = Number.NEGATIVE_INFINITY
  let askedAt = Number.NEGATIVE_INFINITY
  return {
    get nextTurnAt() {
      return askAt
    },
    turn(now) {
      if (now < askAt) return []
      askedAt = now
      askAt = now + (facts.configIndex === undefined ? retryEveryMs : renewEveryMs)
      const push = toPushLine(subscription)
      return facts.firmware === undefined ? [push, toLine('FirmwareRevision')] : [push]
    },
    hear(text, now) {
      const told = readDatagram(text)
      const isNewConfiguration =
        facts.configIndex !== undefined && (told.facts.configIndex ?? facts.configIndex) !== facts.configIndex
      facts = { ...facts, ...told.facts }
      // What changed was told already, unless it was lost.
      if (isNewConfiguration) askAt = Math.max(now, askedAt + 1000)
      const [refused] = told.refusals
      if (Object.keys(told.facts).length > 0) return null
      if (refused !== undefined) return `refused: ${refused.code} ${refused.text} (${refused.instruction})`
      return told.ignored.length > 0 ? 'a line that means nothing' : null
    },
    observe: () => (facts.configIndex === undefined ? null : toObservation(facts, partner)),
    get isComplete() {
      const { configIndex, name, frequencyKhz, firmware } = facts
      return [configIndex, name, frequencyKhz, firmware].every((fact) => fact !== undefined)
    },
    refusal: null,
    farewell: () => toPushLine({ timeoutS: 0, cycleMs: 0, withConfiguration: false }),
  }
}
