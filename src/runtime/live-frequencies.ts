/** The carriers of the installation and their conflicts, which are determined again only after they have changed. */

import { RequestError } from '../domain/errors.ts'
import { type CheckResult, maxCarriers } from '../domain/frequencies/conflict.ts'
import {
  type LiveCarrier,
  type LiveCheckFilter,
  listLiveCarriers,
  toLiveCheck,
} from '../domain/frequencies/live-carriers.ts'
import { resolveProfiles, type StoredProfile } from '../domain/frequencies/profile-changes.ts'
import type { Profile } from '../domain/frequencies/profiles.ts'
import { parseTvInUse } from '../domain/frequencies/tv-raster.ts'
import type { FrequencyChecker } from '../state/frequency-checker.ts'
import type { State } from './state.ts'

interface LiveFrequenciesDeps {
  readonly state: Pick<State, 'lists' | 'settings' | 'receiverStore' | 'placeholderStore'>
  readonly checker: Pick<FrequencyChecker, 'check'>
  now(): number
}

export interface LiveFrequencyCheck {
  readonly carriers: readonly LiveCarrier[]
  readonly result: CheckResult
  /** When the conflicts were determined (epoch ms). */
  readonly checkedAt: number
}

interface Checked {
  readonly result: CheckResult
  readonly checkedAt: number
}

/** How many results are kept: three levels, with and without transmitters that are off, and a few groups. */
const maxKept = 12

export class LiveFrequencies {
  readonly #deps: LiveFrequenciesDeps
  /** The results by what was checked, the last used ones last. */
  readonly #kept = new Map<string, Promise<Checked>>()
  #resolved: { readonly stored: readonly StoredProfile[]; readonly profiles: readonly Profile[] } | null = null

  constructor(deps: LiveFrequenciesDeps) {
    this.#deps = deps
  }

  /** Returns the profiles in force. */
  profiles(): readonly Profile[] {
    const { frequencyProfiles: stored } = this.#deps.state.lists.current
    if (this.#resolved?.stored !== stored) this.#resolved = { stored, profiles: resolveProfiles(stored) }
    return this.#resolved.profiles
  }

  carriers(): readonly LiveCarrier[] {
    const { lists, receiverStore, placeholderStore } = this.#deps.state
    const { groups, locations } = lists.current
    return listLiveCarriers({
      receivers: receiverStore.list(),
      placeholders: placeholderStore.list(),
      groups,
      locations,
      profiles: this.profiles(),
    })
  }

  /** Checks the carriers; throws a RequestError if there are too many. The result contains the carriers that were not selected, too. */
  async check(filter: LiveCheckFilter): Promise<LiveFrequencyCheck> {
    const carriers = this.carriers()
    const { carriers: checked, victims } = toLiveCheck(carriers, filter)
    if (checked.length > maxCarriers) {
      const subject = `There are ${checked.length} carriers, and at most ${maxCarriers} can be checked. Use only_on.`
      throw new RequestError('wrong_state', { subject })
    }
    const { REGION, TV_IN_USE } = this.#deps.state.settings.get(null)
    const options = { victims, tvInUse: parseTvInUse(REGION, TV_IN_USE).inUse }
    const key = JSON.stringify([checked, options])
    const known = this.#kept.get(key)
    this.#kept.delete(key)
    const checking = known ?? this.#deps.checker.check(checked, options).then((result) => this.#toChecked(result))
    this.#kept.set(key, checking)
    checking.catch(() => this.#kept.delete(key))
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= maxKept) break
      this.#kept.delete(oldest)
    }
    return { carriers, ...(await checking) }
  }

  #toChecked(result: CheckResult): Checked {
    return { result, checkedAt: this.#deps.now() }
  }
}
