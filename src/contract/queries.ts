/** Parameters of paths and queries. */

import Type, { type TProperties } from 'typebox'
import { alertKinds } from './alert-kinds.ts'
import {
  alertStates,
  auditResults,
  connectionStatuses,
  deliveryStatuses,
  deviceTypes,
  guardLevels,
  onlineStates,
  queueStatuses,
  unitTypes,
} from './values.ts'

// --- Paths -----------------------------------------------------------------------------------------------------------

const id = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description })

export const ById = Type.Object({ id: id('Id of the record.') })
export const ByAlert = Type.Object({
  id: Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the alert.' }),
})
export const ByPicture = Type.Object({
  id: Type.String({ description: "Id of the picture, which is a digest of the picture's content." }),
})
export const ByProfile = Type.Object({ id: Type.String({ description: 'Id of the profile.' }) })
export const ByCode = Type.Object({ code: Type.String({ description: 'Code of the manufacturer.' }) })
export const ByUndo = Type.Object({ undo_id: id('The `undo_id` in the response of the action.') })
export const ByScene = Type.Object({ ...ById.properties, scene_id: id('Id of the scene.') })
export const ByKey = Type.Object({ key: Type.String({ description: 'Key of the setting.' }) })

// --- Queries ---------------------------------------------------------------------------------------------------------

const query = <Properties extends TProperties>(properties: Properties) => Type.Partial(Type.Object(properties))
const flag = (description: string) => Type.Boolean({ description })
const percent = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description })
const dayOrTime = (description: string) =>
  Type.Union([Type.String({ format: 'date' }), Type.String({ format: 'date-time' })], {
    description: `${description}; a date or a time such as 2026-05-01T18:00:00Z.`,
  })
const sameValue = { description: 'Only records with this value.' }

const manufacturer = Type.String({ description: 'Code of a manufacturer, to return only its records.' })

const site = Type.String({
  description: 'Code of a site, to return only what it monitors; `local`: only what this installation monitors.',
})

/** A filter of responses that contain nothing of sites without it. */
const siteInsteadOfLocal = Type.String({
  description: 'Code of a site, to return what it monitors instead of what this installation monitors.',
})

export const paging = {
  page: Type.Integer({ minimum: 1, description: 'Page number; default 1.' }),
  page_size: Type.Integer({ minimum: 1, description: 'Items per page; default 100, at most 1000.' }),
}

/** The query of a list that has no filters. */
export const Paging = query(paging)

/** A filter of lists whose records only this installation has. */
const siteOfLocalList = Type.String({
  description: 'Code of a site. These records belong to this installation, so only `local` returns any.',
})
const localList = { site: siteOfLocalList, ...paging }
/** The query of a list, without other filters, of records that only this installation has. */
export const LocalList = query(localList)
export const OidcLoginQuery = query({
  next: Type.String({ maxLength: 2000, description: 'The page to open afterwards: a path of this service.' }),
})

/** What the provider appends to the redirect address. It can send parameters besides these. */
export const OidcCallbackQuery = query({
  code: Type.String({ description: 'The authorization code.' }),
  state: Type.String({ description: 'The state of the sign-in that was started.' }),
  iss: Type.String({ description: 'The issuer.' }),
  error: Type.String({ description: 'Why the provider did not sign the user in.' }),
})

/** The query of the line check of a show. */
export const CheckQuery = query({ channel: id('Id of a channel, to return only its check.'), ...paging })
/** The query of an operation on the records of one manufacturer, or of all. */
export const Scope = query({ manufacturer })
export const ScopedList = query({ manufacturer, ...localList })
export const ManufacturerList = query({ manufacturer, ...paging })

const group = id('Id of a group, to return only channels whose slot is in it.')

/** The query of an operation on settings. Without a scope, it concerns the global settings. */
const settingScope = {
  manufacturer: Type.String({ description: 'Code of a manufacturer: its settings. Not together with `group`.' }),
  group: id('Id of a group: its settings. Not together with `manufacturer`.'),
}
export const SettingScope = query(settingScope)
export const ScopedSettingsList = query({ ...settingScope, ...paging })
export const RemovedSetting = Type.Object({ ...ByKey.properties, ...SettingScope.properties })

export const DataQuery = query({ manufacturer, group, site })
/** The query of a list of receivers or channels. */
export const EquipmentList = query({ manufacturer, site, ...paging })

/** The query of the WebSocket, version 1. `protocol` selects version 2, whose query is `LiveQuery`. */
export const SocketQuery = query({
  protocol: Type.Enum(['2'], { description: 'Asks for version 2.' }),
  manufacturer: Type.String({ description: 'Code of a manufacturer, to receive only its messages.' }),
  site: Type.String({ description: 'Code of a site, to receive only what it monitors; `local`: this installation.' }),
})

export const LiveQuery = query({
  ...SocketQuery.properties,
  group: id('Id of a group, to receive only its channels.'),
  levels: Type.Enum(['true', 'false', 'full'], { description: 'Which levels to send.' }),
  since: Type.Integer({ minimum: 0, description: 'Number of the last message received, to resume.' }),
  epoch: Type.String({ description: 'The epoch of that message.' }),
  ack: Type.Enum(['0', '1'], { description: '1: the client acknowledges `levels` messages.' }),
})

export const ReadinessQuery = query({
  exclude: Type.Enum(['database'], {
    description: 'With `database`, the database need not be reachable: the last known state is still served.',
  }),
})

export const HealthQuery = query({
  manufacturer: Type.String({ description: 'Code of the manufacturer for `vendor_api`.' }),
})

export const MetricsQuery = query({
  channels: Type.Enum(['0', '1'], { description: 'With `1`, the levels of every channel are included.' }),
})

export const AlertQuery = query({
  state: Type.Enum([...alertStates, 'open'], {
    description: 'Only alerts in this state; `open`: raised or snoozed.',
  }),
  kind: Type.Enum([...alertKinds], sameValue),
  channel: id('Id of a channel, to return only alerts about it.'),
  receiver: id('Id of a receiver, to return only alerts about it and its channels.'),
  from: dayOrTime('Raised at or after this time'),
  to: dayOrTime('Raised at or before this time'),
  manufacturer,
  site,
  ...paging,
})

export const ConnectionQuery = query({
  status: Type.Enum([...connectionStatuses], sameValue),
  manufacturer,
  ...localList,
})

export const ChassisQuery = query({
  status: Type.Enum([...onlineStates], sameValue),
  manufacturer,
  site,
  ...paging,
})

export const UnitQuery = query({
  battery_percentage: percent('Only units with exactly this battery level.'),
  battery_percentage__gte: percent('Only units with at least this battery level.'),
  battery_percentage__lte: percent('Only units with at most this battery level.'),
  base_chassis: id('Id of a chassis, to return only units that it receives or that are docked in it.'),
  device_type: Type.Enum([...unitTypes], sameValue),
  status: Type.Enum([...onlineStates], sameValue),
  manufacturer,
  site: siteInsteadOfLocal,
  ...paging,
})

export const PerformerQuery = query({
  manufacturer: Type.String({
    description: 'Returns all performers if this manufacturer exists, and none if it does not.',
  }),
  ...localList,
})

export const AssignmentQuery = query({
  is_active: Type.Boolean(sameValue),
  performer: id('Only assignments of the performer with this id.'),
  wireless_unit: id('Only assignments of the unit with this id.'),
  names: flag('Include the name of each performer and a tag that changes with the picture.'),
  manufacturer,
  site: siteInsteadOfLocal,
  ...paging,
})

export const QueueQuery = query({
  status: Type.Enum([...queueStatuses], sameValue),
  device_type: Type.Enum([...deviceTypes], sameValue),
  is_duplicate: Type.Boolean(sameValue),
  is_ip_conflict: Type.Boolean(sameValue),
  discovered_after: dayOrTime('Discovered at or after this time'),
  discovered_before: dayOrTime('Discovered before this time'),
  manufacturer,
  ...localList,
})

export const MovementQuery = query({ acknowledged: Type.Boolean(sameValue), manufacturer, ...localList })

export const DeliveryQuery = query({
  status: Type.Enum([...deliveryStatuses], sameValue),
  channel_id: id('Id of a notification channel, to return only its deliveries.'),
  ...paging,
})

export const AuditQuery = query({
  action: Type.String({ description: 'Only this action, or all actions with this prefix if it ends with a dot.' }),
  actor: Type.String({ description: 'Only records whose actor name contains this text.' }),
  result: Type.Enum([...auditResults], sameValue),
  after: dayOrTime('At or after this time'),
  before: dayOrTime('Before this time'),
  ...paging,
})

const exactTime = (description: string) =>
  Type.String({ format: 'date-time', description: `${description}, such as 2026-05-01T18:00:00Z.` })

const commaList = (description: string) => Type.String({ description: `${description}, separated by commas.` })

const historyRange = {
  channels: commaList('Ids of at most 100 channels'),
  from: exactTime('Start of the range'),
  to: exactTime('End of the range, exclusive'),
}

export const HistoryQuery = Type.Object({
  ...historyRange,
  max_points: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 11_000, description: 'At most this many steps per channel; default 600.' }),
  ),
  series: Type.Optional(commaList('`rf`, `audio`, `quality`, `battery`, `minutes`; default all')),
})

export const HistoryCsvQuery = Type.Object({
  ...historyRange,
  step: Type.Optional(
    Type.Enum(['1', '10', '60', '600', '3600'], { description: 'Length of a step in seconds; default 1.' }),
  ),
})

export const HistoryTimeQuery = Type.Object({ time: exactTime('A whole second') })

const eventFilters = {
  from: exactTime('Only events that ended at or after this time'),
  to: exactTime('Only events that began at or before this time'),
  channel: commaList('Ids of channels, to return only their events and those of all channels'),
  receiver: id('Id of a receiver, to return only events about it and its channels.'),
  kind: commaList('Kinds of events'),
  site,
}

export const EventQuery = query({
  ...eventFilters,
  limit: Type.Integer({ minimum: 1, description: 'How many events to return; default 100, at most 1000.' }),
  before: id('Id of an event, to return only the events that follow it in the list.'),
})

export const EventCsvQuery = query(eventFilters)

export const CrewSheetQuery = query({ show: id('Id of a show, to return only its channels and placeholders.') })

const frequencyFilters = {
  group: id('Id of a group, to return only its carriers and their conflicts; others still count as generators.'),
  only_on: flag('Only transmitters that are on.'),
  site: siteInsteadOfLocal,
}

export const FrequencyQuery = query({
  level: Type.Enum([...guardLevels], { description: 'Which guards of the profiles apply; default `standard`.' }),
  ...frequencyFilters,
})

export const FrequencyNoiseQuery = query({
  hours: Type.Integer({ minimum: 1, maximum: 168, description: 'How many hours back; default 24.' }),
  site: Type.String({
    description: 'Code of a site. Noise is listed from what this installation records, so only `local` returns any.',
  }),
})

export const FrequencyExportQuery = query({
  format: Type.Enum(['csv', 'list', 'wsm'], {
    description: '`list`: only MHz, one per line; `wsm`: for Wireless Systems Manager, in kHz; default `csv`.',
  }),
  ...frequencyFilters,
})
