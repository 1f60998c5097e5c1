/** Carries out commands that are received over OSC, one after another, with the role operator. */

import { acknowledge } from '../../actions/alerts/respond-to-alerts.ts'
import { addMarker } from '../../actions/shows/edit-markers.ts'
import { endShow, startShow } from '../../actions/shows/edit-shows.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { clientKey } from '../../domain/identity/address.ts'
import type { OscAction } from '../../domain/osc/packet.ts'
import { type Show, stateOf } from '../../domain/shows.ts'
import { now } from '../../platform/clock.ts'
import { ClientShares } from '../../platform/concurrency.ts'
import type { Service } from '../../service.ts'
import type { PacketCounters } from './listener.ts'

/** Commands of all addresses. */
const maxWaiting = 200

export class OscCommands {
  readonly #service: Service
  readonly #counters: PacketCounters
  readonly #waiting = new ClientShares(maxWaiting)
  #last: Promise<void> = Promise.resolve()

  constructor(service: Service, counters: PacketCounters) {
    this.#service = service
    this.#counters = counters
  }

  /** Adds a command to the queue. Commands beyond the share of an address are dropped. */
  add(command: OscAction, address: string): void {
    const release = this.#waiting.take(clientKey(address))
    if (release === null) {
      this.#counters.countExcess()
      return
    }
    this.#last = this.#last.then(async () => {
      await this.#perform(command, address).catch((error: unknown) => {
        const reason = error instanceof RequestError ? error.details || error.message : String(error)
        this.#service.log.warn({ command: command.type, address, error: reason }, 'OSC command failed')
      })
      release()
    })
  }

  /** Resolves when the queue is empty. */
  idle(): Promise<void> {
    return this.#last
  }

  async #perform(command: OscAction, address: string): Promise<void> {
    const actor: Actor = { kind: 'osc', id: null, name: 'osc', role: 'operator', address }
    switch (command.type) {
      case 'marker':
        await addMarker(this.#service, actor, { text: command.text })
        return
      case 'start_show':
        await startShow(this.#service, actor, this.#findShow(command.show, 'planned'))
        return
      case 'end_show':
        await endShow(this.#service, actor, this.#findShow(command.show, 'running'))
        return
      case 'acknowledge':
        await acknowledge(this.#service, actor, command.alert, null)
    }
  }

  /**
   * Finds a show by its id or exact title, or without either the only one in this state. Of several with the title, it is
   * the one whose planned start is nearest.
   */
  #findShow(wanted: string | null, state: 'planned' | 'running'): number {
    const shows = this.#service.lists.current.shows
    const titled = shows.filter((show) => (wanted === null || show.title === wanted) && stateOf(show) === state)
    const [nearest] = titled.toSorted((a, b) => this.#untilStart(a) - this.#untilStart(b) || a.id - b.id)
    const found =
      shows.find(({ id }) => String(id) === wanted) ?? (wanted !== null || titled.length === 1 ? nearest : undefined)
    if (found !== undefined) return found.id
    const details =
      wanted === null ? `expected the id or title of a ${state} show` : `there is no ${state} show ${wanted}`
    throw new RequestError('bad_request', { details })
  }

  /** Distance of the planned start from now. A show without one is the farthest. */
  #untilStart({ starts_at }: Show): number {
    return starts_at === null ? Number.MAX_VALUE : Math.abs(starts_at - now())
  }
}
