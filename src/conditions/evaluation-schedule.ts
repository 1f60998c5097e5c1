/**
 * Evaluates the conditions of receivers without a report. This happens in the next frame after a request, when time
 * changes a condition, and when the source of a stale receiver sends anything other than a report.
 */

import type { ReceiverStore } from '../ingest/receiver-store.ts'
import { FrameClock } from '../platform/frame-clock.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
import { maxTimerMs } from '../platform/wait.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'

/** The result of an evaluation; the times are `performance.now()` times. */
interface Evaluation {
  readonly at: number
  /** When a condition of the receiver may change without a report or a sample. */
  readonly dueAt: number
  /** True if a channel of the receiver is stale or offline. */
  readonly isInterrupted: boolean
}

/** The sources of stale receivers are checked this often. */
const checkResumedEveryMs = 1000

export class EvaluationSchedule {
  /** Contains the id of a receiver to evaluate. */
  readonly due = new Topic<number>()
  readonly #receiverStore: ReceiverStore
  readonly #receiverSources: ReceiverSources
  /** The receivers to evaluate in the next frame. */
  readonly #pending = new Set<number>()
  readonly #frames = new FrameClock(() => void this.#evaluatePending())
  /** The times when a condition may change without a report, by receiver. */
  readonly #dueAt = new Map<number, number>()
  #dueTimer: NodeJS.Timeout | undefined
  #dueTimerAt = Number.POSITIVE_INFINITY
  /** The receivers that have a stale or offline channel, and when they were last evaluated. */
  readonly #interrupted = new Map<number, number>()
  #resumeTimer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(receiverStore: ReceiverStore, receiverSources: ReceiverSources) {
    this.#receiverStore = receiverStore
    this.#receiverSources = receiverSources
  }

  /** Evaluates the receiver in the next frame. */
  request(receiverId: number): void {
    this.#pending.add(receiverId)
    this.#frames.request()
  }

  /** Called after every evaluation of a receiver, including one caused by a report. */
  evaluated(receiverId: number, { at, dueAt, isInterrupted }: Evaluation): void {
    if (dueAt === Number.POSITIVE_INFINITY) this.#dueAt.delete(receiverId)
    else this.#dueAt.set(receiverId, dueAt)
    this.#setDueTimer(dueAt)
    if (isInterrupted) {
      this.#interrupted.set(receiverId, at)
      this.#setResumeTimer()
    } else this.#interrupted.delete(receiverId)
  }

  /** True if a channel of the receiver was stale or offline at its last evaluation. */
  isInterrupted(receiverId: number): boolean {
    return this.#interrupted.has(receiverId)
  }

  /** Stops evaluating the receiver. */
  release(receiverId: number): void {
    this.#pending.delete(receiverId)
    this.#dueAt.delete(receiverId)
    this.#interrupted.delete(receiverId)
  }

  close(): void {
    this.#isClosed = true
    this.#frames.stop()
    clearTimeout(this.#dueTimer)
    clearTimeout(this.#resumeTimer)
  }

  async #evaluatePending(): Promise<void> {
    const pending = [...this.#pending]
    this.#pending.clear()
    for (const id of pending) {
      if (this.#isClosed) return
      this.due.publish(id)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
  }

  #setResumeTimer(): void {
    if (this.#isClosed) return
    this.#resumeTimer ??= setTimeout(() => {
      this.#resumeTimer = undefined
      for (const [id, evaluatedAt] of this.#interrupted) if (this.#hasResumed(id, evaluatedAt)) this.request(id)
      if (this.#interrupted.size > 0) this.#setResumeTimer()
    }, checkResumedEveryMs)
  }

  /** True if the source of an active receiver has sent anything since this time (`performance.now()`). */
  #hasResumed(receiverId: number, since: number): boolean {
    const isActive = this.#receiverStore.facts(receiverId)?.is_active === true
    return isActive && this.#receiverSources.receivedAt(receiverId) > since
  }

  #setDueTimer(dueAt: number): void {
    if (dueAt >= this.#dueTimerAt || this.#isClosed) return
    clearTimeout(this.#dueTimer)
    this.#dueTimerAt = dueAt
    const waitMs = Math.min(maxTimerMs, Math.max(1, Math.ceil(dueAt - performance.now())))
    this.#dueTimer = setTimeout(() => this.#requestDue(), waitMs)
  }

  #requestDue(): void {
    const now = performance.now()
    let next = Number.POSITIVE_INFINITY
    for (const [id, dueAt] of this.#dueAt) {
      if (dueAt <= now) {
        this.#dueAt.delete(id)
        this.request(id)
      } else if (dueAt < next) next = dueAt
    }
    this.#dueTimerAt = Number.POSITIVE_INFINITY
    if (next !== Number.POSITIVE_INFINITY) this.#setDueTimer(next)
  }
}
