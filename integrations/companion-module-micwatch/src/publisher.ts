/**
 * Passes what has changed to Companion, at most 5 times a second: variables whose value is different, and feedbacks of
 * slots that look different.
 */

import type { CompanionVariableDefinitions } from '@companion-module/base'
import { type FeedbackUses, feedbackKey, overviewKey } from './feedbacks.ts'
import { type Values, variableDefinitions, variableValues } from './variables.ts'
import type { View } from './view.ts'

/** The part of a Companion module instance to which values are passed. */
export interface PublishTarget {
  setVariableDefinitions(definitions: CompanionVariableDefinitions): void
  setVariableValues(values: Values): void
  checkFeedbacksById(...ids: string[]): void
  /** Called when the slots, their names or the groups have changed. */
  setPresets(view: View): void
}

const intervalMs = 200

export class Publisher {
  readonly #target: PublishTarget
  readonly #getView: () => View
  readonly #uses: FeedbackUses
  /** Milliseconds between two updates of levels. */
  levelsIntervalMs = 1000
  #timer: NodeJS.Timeout | undefined
  #nextLevelsAt = 0
  #sent: Values = {}
  /** The slots whose variables are defined; null at first. */
  #slots: string | null = null
  #presets = ''
  #feedbackKeys = new Map<number | null, string>()

  constructor(target: PublishTarget, getView: () => View, uses: FeedbackUses) {
    this.#target = target
    this.#getView = getView
    this.#uses = uses
  }

  /** Publishes soon. Further calls until then cost nothing. */
  schedule(): void {
    this.#timer ??= setTimeout(() => this.publish(), intervalMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Publishes now, with levels if they are due or if `isComplete`. */
  publish(isComplete = false, now = performance.now()): void {
    this.stop()
    const view = this.#getView()
    const isNew = this.#publishDefinitions(view)
    const withLevels = isNew || isComplete || now >= this.#nextLevelsAt
    if (withLevels) this.#nextLevelsAt = now + this.levelsIntervalMs
    this.#publishValues(variableValues(view, withLevels))
    this.#checkFeedbacks(view)
  }

  /** Returns whether the variables were defined anew, which deletes the values of those that are gone. */
  #publishDefinitions(view: View): boolean {
    const slots = [...view.slots.keys()]
    const isNew = this.#slots !== slots.join()
    if (isNew) {
      this.#slots = slots.join()
      this.#sent = {}
      this.#target.setVariableDefinitions(variableDefinitions(slots))
    }
    const presets = JSON.stringify([[...view.slots.values()].map(({ slot, name }) => [slot, name]), view.groups])
    if (this.#presets !== presets) {
      this.#presets = presets
      this.#target.setPresets(view)
    }
    return isNew
  }

  #publishValues(values: Values): void {
    const changed = Object.entries(values).filter(([id, value]) => this.#sent[id] !== value || !(id in this.#sent))
    if (changed.length === 0) return
    this.#sent = { ...this.#sent, ...values }
    this.#target.setVariableValues(Object.fromEntries(changed))
  }

  #checkFeedbacks(view: View): void {
    const keys = new Map<number | null, string>([[null, overviewKey(view)]])
    for (const [slot, status] of view.slots) keys.set(slot, feedbackKey(status, view.isConnected))
    const isChanged = (slot: number | null) => this.#feedbackKeys.get(slot) !== keys.get(slot)
    const ids = this.#uses.find(isChanged)
    this.#feedbackKeys = keys
    if (ids.length > 0) this.#target.checkFeedbacksById(...ids)
  }
}
