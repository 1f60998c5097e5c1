import type { HardwareLayout, LayoutLocation, LayoutReceiver } from '../../../src/contract/locations.ts'
import { t } from '../../app/i18n.ts'
import type { WatchState } from '../../app/watch-state.ts'

export interface LocationOption {
  readonly id: number
  readonly path: string
  /** Ids of the location and of all locations that contain it. */
  readonly within: readonly number[]
}

export function locationOptions(layout: HardwareLayout): readonly LocationOption[] {
  const walk = (locations: readonly LayoutLocation[], before: Omit<LocationOption, 'id'>): LocationOption[] =>
    locations.flatMap(({ id, name, locations: inner }) => {
      const locationId = {
        id,
        path: before.path === '' ? name : `${before.path} / ${name}`,
        within: [...before.within, id],
      }
      return [locationId, ...walk(inner, locationId)]
    })
  return walk(layout.locations, { path: '', within: [] })
}

export interface PlacedReceiver {
  readonly receiver: LayoutReceiver
  readonly locationId: number | null
}

export function receiversOf(layout: HardwareLayout): readonly PlacedReceiver[] {
  return [
    ...layout.unplaced.map((receiver) => ({ receiver, locationId: null })),
    ...layout.locations.flatMap(receiversIn),
  ]
}

/** Includes the locations inside it. */
export function receiversIn(location: LayoutLocation): PlacedReceiver[] {
  return [
    ...location.receivers.map((receiver) => ({ receiver, locationId: location.id })),
    ...location.locations.flatMap(receiversIn),
  ]
}

export interface LayoutSearch {
  /** Part of a name, model, address or slot. If the name of a location matches, so does everything in it. */
  readonly search?: string | undefined
  readonly isActive?: boolean | undefined
  readonly slotRecords?: WatchState['slotRecords'] | undefined
}

/** Without a filter, the whole layout. */
export function filterLayout(
  layout: HardwareLayout,
  { search = '', isActive, slotRecords }: LayoutSearch,
): HardwareLayout {
  const text = search.trim().toLowerCase()
  if (text === '' && isActive === undefined) return layout
  const matches = (receiver: LayoutReceiver, isNameMatch: boolean) =>
    (isActive === undefined || receiver.is_active === isActive) &&
    (isNameMatch || searchTextOf(receiver, slotRecords).includes(text))
  const inside = (locations: readonly LayoutLocation[], isParentMatch: boolean): LayoutLocation[] =>
    locations.flatMap((location) => {
      const isNameMatch = isParentMatch || location.name.toLowerCase().includes(text)
      const receivers = location.receivers.filter((receiver) => matches(receiver, isNameMatch))
      const inner = inside(location.locations, isNameMatch)
      const isShown = receivers.length > 0 || inner.length > 0 || (isNameMatch && isActive === undefined)
      return isShown ? [{ ...location, receivers, locations: inner }] : []
    })
  return {
    locations: inside(layout.locations, false),
    unplaced: layout.unplaced.filter((item) => matches(item, false)),
  }
}

function searchTextOf(
  { name, model, ip, manufacturer, channels }: LayoutReceiver,
  slotRecords: LayoutSearch['slotRecords'],
): string {
  const texts = [
    name,
    model,
    ip,
    manufacturer,
    ...channels.flatMap(({ name, slot }) => [name, slotRecords?.get(slot)?.title, t('layout.slot', { slot })]),
  ]
  return texts.join('\n').toLowerCase()
}
