/** The carriers of an installation: those of its channels, and of placeholders that have a frequency. */

import type { Group } from '../../contract/groups.ts'
import type { Location } from '../../contract/locations.ts'
import type { GuardLevel } from '../../contract/values.ts'
import { hasRow } from '../conditions/condition.ts'
import { type Channel, frequencyOf, type Receiver } from '../equipment/receiver.ts'
import type { TitleOf } from '../equipment/slot-record.ts'
import type { Placeholder } from '../equipment/slots.ts'
import { type Carrier, type Equipment, parseMhz } from './carrier.ts'
import { type CheckedChannel, carrierIdsOf, toCheckedCarriers } from './check.ts'
import { detectProfile, findBand } from './profile-changes.ts'
import { equipmentOf, genericProfileId, type Profile } from './profiles.ts'

export interface LiveCarrier {
  /** `c` and the id of the channel, or `p` and the id of the placeholder. */
  readonly id: string
  readonly channelId: number | null
  readonly placeholderId: number | null
  readonly receiverId: number | null
  readonly slot: number
  readonly name: string
  readonly khz: number
  /** The second carrier of frequency diversity. */
  readonly secondKhz: number | null
  readonly model: string | null
  readonly profile: Profile
  /** The band of the receiver. */
  readonly band: string | null
  readonly zone: string | null
  /** Null for a placeholder, and while nothing is received from the receiver. */
  readonly isOn: boolean | null
  readonly rfLevel: number | null
  /** The RF level without a transmitter. */
  readonly noiseDbm: number | null
  readonly hasForeignRf: boolean
}

export interface CarrierSources {
  readonly receivers: readonly Receiver[]
  readonly placeholders: readonly Placeholder[]
  readonly groups: readonly Pick<Group, 'id' | 'slots' | 'zone'>[]
  readonly locations: readonly Pick<Location, 'id' | 'parent' | 'zone'>[]
  readonly profiles: readonly Profile[]
  readonly titleOf: TitleOf
  titleOfPlaceholder(placeholder: Placeholder): string
}

/**
 * Lists the carriers: placeholders, then channels, each by id. Of two carriers that are too close, the later one is the
 * victim, so a channel is a victim rather than a placeholder.
 */
export function listLiveCarriers({ receivers, placeholders, ...context }: CarrierSources): readonly LiveCarrier[] {
  const { ofPlaceholders, ofReceivers } = createCarrierLists(context)
  return [...ofPlaceholders(placeholders), ...ofReceivers(receivers)]
}

/**
 * Returns functions that list the carriers of placeholders and receivers by id, for callers that need only some of
 * them.
 */
export function createCarrierLists(context: Omit<CarrierSources, 'receivers' | 'placeholders'>) {
  const profiles = new Map(context.profiles.map((profile) => [profile.id, profile]))
  const generic = profiles.get(genericProfileId)
  if (generic === undefined) throw new Error('The generic profile is missing.')
  const zones = indexZones(context)
  const { titleOf, titleOfPlaceholder } = context
  const findProfile = (id: string) => profiles.get(id) ?? generic
  const byId = (a: LiveCarrier, b: LiveCarrier) =>
    (a.placeholderId ?? a.channelId ?? 0) - (b.placeholderId ?? b.channelId ?? 0)

  const ofPlaceholder = (placeholder: Placeholder): readonly LiveCarrier[] => {
    const khz = parseMhz(placeholder.frequency ?? '')
    if (khz === null) return []
    const name = titleOfPlaceholder(placeholder)
    return [toPlaceholderCarrier(placeholder, { name, khz, profile: generic, zone: zones.ofSlot(placeholder.slot) })]
  }

  const ofReceiver = (receiver: Receiver): readonly LiveCarrier[] => {
    const zoneOfReceiver = zones.ofLocation(receiver.location)
    return receiver.channels.flatMap((channel) => {
      const khz = parseMhz(frequencyOf(channel) ?? '')
      if (khz === null) return []
      const { band = null, transmission_mode: mode = null } = channel.details ?? {}
      const type = { family: receiver.device_type, model: receiver.model, band, mode, khz }
      const override = channel.profile === undefined ? undefined : profiles.get(channel.profile)
      const profile = override ?? findProfile(detectProfile(type))
      const zone = zones.ofSlot(channel.slot) ?? zoneOfReceiver
      return toChannelCarrier(receiver, channel, { name: titleOf(receiver, channel).title ?? '', khz, profile, zone })
    })
  }

  return {
    ofPlaceholders: (placeholders: readonly Placeholder[]) => placeholders.flatMap(ofPlaceholder).sort(byId),
    ofReceivers: (receivers: readonly Receiver[]) => receivers.flatMap(ofReceiver).sort(byId),
  }
}

type Tuned = Pick<LiveCarrier, 'name' | 'khz' | 'profile' | 'zone'>

function toPlaceholderCarrier({ id, slot }: Placeholder, tuned: Tuned): LiveCarrier {
  const unknown = {
    channelId: null,
    receiverId: null,
    model: null,
    band: null,
    rfLevel: null,
    noiseDbm: null,
    secondKhz: null,
  } as const
  return {
    ...unknown,
    id: `p${id}`,
    placeholderId: id,
    slot,
    ...tuned,
    isOn: null,
    hasForeignRf: false,
  }
}

function toChannelCarrier(receiver: Receiver, channel: Channel, tuned: Tuned): LiveCarrier {
  const { id, slot, transmitter, condition } = channel
  const isKnown = receiver.is_active && !hasRow(condition, 'stale')
  const isIdle = isKnown && transmitter === null
  return {
    id: `c${id}`,
    channelId: id,
    placeholderId: null,
    receiverId: receiver.id,
    slot,
    ...tuned,
    secondKhz: parseMhz(channel.details?.second_frequency ?? ''),
    model: receiver.model,
    band: findBand({ band: channel.details?.band ?? null, model: receiver.model }),
    isOn: isKnown ? transmitter !== null : null,
    rfLevel: transmitter?.rf_level ?? channel.rf_level,
    noiseDbm: isIdle ? channel.rf_level : null,
    hasForeignRf: isIdle && hasRow(condition, 'interference'),
  }
}

/** A slot has the zone of the first group with a zone; a location that of the nearest enclosing location with one. */
function indexZones({ groups, locations }: Pick<CarrierSources, 'groups' | 'locations'>) {
  const bySlot = new Map<number, string>()
  for (const { slots, zone } of groups) {
    if (zone === null) continue
    for (const slot of slots) if (!bySlot.has(slot)) bySlot.set(slot, zone)
  }
  const byId = new Map(locations.map((location) => [location.id, location]))
  return {
    ofSlot: (slot: number): string | null => bySlot.get(slot) ?? null,
    ofLocation(id: number | null): string | null {
      let location = id === null ? undefined : byId.get(id)
      for (let steps = 0; location !== undefined && steps <= locations.length; steps += 1) {
        if (location.zone !== null) return location.zone
        location = location.parent === null ? undefined : byId.get(location.parent)
      }
      return null
    },
  }
}

export interface LiveCheckFilter {
  readonly level: GuardLevel
  readonly isOnlyOn: boolean
  /** Only carriers in these slots may be victims; null for all. */
  readonly slots: ReadonlySet<number> | null
}

export function isSelected({ isOn, slot }: LiveCarrier, { isOnlyOn, slots }: Omit<LiveCheckFilter, 'level'>): boolean {
  return !(isOnlyOn && isOn === false) && (slots === null || slots.has(slot))
}

export interface LiveCheck {
  readonly carriers: readonly Carrier[]
  /** Only these carriers may be victims; null for all. */
  readonly victims: readonly string[] | null
}

/**
 * Returns the input of the check. With a filter of slots, their carriers come last, so that they are the victims of
 * carriers that are too close.
 */
export function toLiveCheck(live: readonly LiveCarrier[], { level, isOnlyOn, slots }: LiveCheckFilter): LiveCheck {
  const equipment = new Map<string, Equipment>()
  const toChannel = (carrier: LiveCarrier): CheckedChannel => {
    const { profile, band, receiverId } = carrier
    const key = JSON.stringify([profile.id, band])
    const known = equipment.get(key) ?? equipmentOf(profile, level, band)
    equipment.set(key, known)
    return { ...carrier, equipment: known, sharedBy: profile.shares_carrier ? receiverId : null }
  }
  const checked = live.filter((carrier) => isSelected(carrier, { isOnlyOn, slots: null }))
  if (slots === null) return { carriers: toCheckedCarriers(checked.map(toChannel)), victims: null }
  const inSlots = checked.filter(({ slot }) => slots.has(slot))
  const others = checked.filter(({ slot }) => !slots.has(slot))
  return {
    carriers: toCheckedCarriers([...others, ...inSlots].map(toChannel)),
    victims: inSlots.flatMap(({ id }) => carrierIdsOf(id)),
  }
}

/** Carriers without a slot follow those with one. */
export function byFrequency<Sorted extends { readonly khz: number; readonly slot: number | null }>(
  carriers: readonly Sorted[],
): Sorted[] {
  const slotOf = ({ slot }: Sorted) => slot ?? Number.MAX_SAFE_INTEGER
  return carriers.toSorted((a, b) => a.khz - b.khz || slotOf(a) - slotOf(b))
}
