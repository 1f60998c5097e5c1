import type { FrequencyCarrierBody } from '../../src/contract/frequencies.ts'
import { formatMhz, parseMhz } from '../../src/domain/frequencies/carrier.ts'
import { plainText } from '../app/format.ts'
import { slotTitle } from '../app/slot-records.ts'

/** `planned`: a placeholder. `offline`: the receiver is offline. Whether these are on is unknown. */
export type CarrierState = 'on' | 'off' | 'offline' | 'planned'

export interface ShownCarrier extends FrequencyCarrierBody {
  /** `7 Nora` */
  readonly label: string
  readonly khz: number
  readonly state: CarrierState
  readonly isTried: boolean
  readonly presentMhz: string
}

/** Frequencies in kHz that are tried instead of the tuned ones, by carrier. */
export type Tried = ReadonlyMap<string, number>

export function showCarriers(carriers: readonly FrequencyCarrierBody[], tried: Tried): readonly ShownCarrier[] {
  return carriers
    .map((carrier): ShownCarrier => {
      const presentKhz = parseMhz(carrier.mhz) ?? 0
      const name = plainText(carrier.name)
      const khz = tried.get(carrier.id) ?? presentKhz
      return {
        ...carrier,
        name,
        label: slotTitle({ slot: carrier.slot, title: name }),
        khz,
        // Only the service knows the scans. The check of tried frequencies names those that are occupied.
        measured: khz === presentKhz ? carrier.measured : 'unmeasured',
        mhz: formatMhz(khz),
        state: stateOf(carrier),
        isTried: khz !== presentKhz,
        presentMhz: carrier.mhz,
      }
    })
    .sort((a, b) => a.khz - b.khz)
}

function stateOf({ transmitter_on, channel_id }: FrequencyCarrierBody): CarrierState {
  if (transmitter_on === null) return channel_id === undefined ? 'planned' : 'offline'
  return transmitter_on ? 'on' : 'off'
}

/** Accepts `486.6`, `486,625`, `486625` (kHz) and `486.625 MHz`. */
export function parseFrequency(text: string): number | null {
  const [, whole = '', fraction = '', unit = ''] = /^(\d{1,6})(?:[.,](\d{0,3}))?\s*(mhz|khz)?$/i.exec(text.trim()) ?? []
  if (whole === '') return null
  const isKhz = unit === '' ? whole.length > 4 : unit.toLowerCase() === 'khz'
  if (isKhz) return fraction === '' ? withinLimits(Number(whole)) : null
  return withinLimits(Number(whole) * 1000 + Number(fraction.padEnd(3, '0')))
}

/** No wireless microphone works below or above. */
function withinLimits(khz: number): number | null {
  return khz >= 20_000 && khz < 10_000_000 ? khz : null
}

export function changeTried(tried: Tried, id: string, khz: number, presentMhz: string): Tried {
  const changed = new Map(tried)
  if (khz === parseMhz(presentMhz)) changed.delete(id)
  else changed.set(id, khz)
  return changed
}

export function listChanges(carriers: readonly ShownCarrier[]): readonly ShownCarrier[] {
  return carriers.filter(({ isTried }) => isTried).toSorted((a, b) => a.slot - b.slot)
}

/** Returns the frequencies of a plan for what is tuned to others: by slot, else by name. */
export function triedOf(
  planned: readonly { readonly slot: number | null; readonly name: string | null; readonly mhz: string }[],
  carriers: readonly ShownCarrier[],
): Tried {
  const bySlot = new Map(planned.map(({ slot, mhz }) => [slot, mhz]))
  const byName = new Map(
    planned.flatMap(({ slot, name, mhz }) => (slot === null ? [[plainText(name ?? ''), mhz]] : [])),
  )
  return new Map(
    carriers.flatMap(({ id, slot, name, presentMhz }) => {
      const mhz = bySlot.get(slot) ?? byName.get(name)
      return mhz === undefined || mhz === presentMhz ? [] : [[id, parseMhz(mhz) ?? 0]]
    }),
  )
}

/** `470.000` as `470`. */
export function shortMhz(mhz: string): string {
  return mhz.replace(/\.?0+$/, '')
}
