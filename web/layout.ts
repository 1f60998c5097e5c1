/** The layout as the page shows it: places one inside another, narrowed to what somebody looks for. */

import type { HardwareLayout, LayoutLocation, LayoutReceiver } from '../src/model/location.ts'
import { t } from './i18n.ts'

/** A place to choose, with the way there: `Hall / Rack 1`. */
export interface Place {
  readonly id: number
  readonly path: string
  /** It and those it is part of. */
  readonly within: readonly number[]
}

/** In the order in which they are shown. */
export function placesOf(layout: HardwareLayout): readonly Place[] {
  const walk = (locations: readonly LayoutLocation[], before: Omit<Place, 'id'>): Place[] =>
    locations.flatMap(({ id, name, locations: inner }) => {
      const place = { id, path: before.path === '' ? name : `${before.path} / ${name}`, within: [...before.within, id] }
      return [place, ...walk(inner, place)]
    })
  return walk(layout.locations, { path: '', within: [] })
}

export interface Standing {
  readonly receiver: LayoutReceiver
  /** Where it stands; null for nowhere. */
  readonly place: number | null
}

/** Those that stand nowhere first. */
export function receiversOf(layout: HardwareLayout): readonly Standing[] {
  return [...layout.unplaced.map((receiver) => ({ receiver, place: null })), ...layout.locations.flatMap(standingIn)]
}

/** In it, and in the places inside it. */
export function standingIn(location: LayoutLocation): Standing[] {
  return [
    ...location.receivers.map((receiver) => ({ receiver, place: location.id })),
    ...location.locations.flatMap(standingIn),
  ]
}

export interface Wanted {
  /** Part of a name, a model, an address or a position; of a place: everything in it. */
  readonly search?: string | undefined
  readonly isActive?: boolean | undefined
}

/** What fits, in the places it stands in; other places are left out. All of it where nothing is looked for. */
export function narrow(layout: HardwareLayout, { search = '', isActive }: Wanted): HardwareLayout {
  const text = search.trim().toLowerCase()
  if (text === '' && isActive === undefined) return layout
  const isFor = (receiver: LayoutReceiver, isNamed: boolean) =>
    (isActive === undefined || receiver.is_active === isActive) && (isNamed || wordsOf(receiver).includes(text))
  const inside = (locations: readonly LayoutLocation[], isAbove: boolean): LayoutLocation[] =>
    locations.flatMap((location) => {
      const isNamed = isAbove || location.name.toLowerCase().includes(text)
      const receivers = location.receivers.filter((one) => isFor(one, isNamed))
      const inner = inside(location.locations, isNamed)
      const isShown = receivers.length > 0 || inner.length > 0 || (isNamed && isActive === undefined)
      return isShown ? [{ ...location, receivers, locations: inner }] : []
    })
  return {
    locations: inside(layout.locations, false),
    unplaced: layout.unplaced.filter((one) => isFor(one, false)),
  }
}

function wordsOf({ name, model, ip, manufacturer, channels }: LayoutReceiver): string {
  const told = [
    name,
    model,
    ip,
    manufacturer,
    ...channels.flatMap((one) => [one.name, t('layout.slot', { slot: one.slot })]),
  ]
  return told.join('\n').toLowerCase()
}
