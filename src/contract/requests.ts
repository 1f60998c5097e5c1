/** Bodies of requests. The description of a field completes the error message `field: expected …`. */

import Type, { type TProperties } from 'typebox'
import { maxOffsetDb } from '../domain/frequencies/scans/scan.ts'
import { alertKinds } from './alert-kinds.ts'
import { uploadedFile } from './described.ts'
import {
  code,
  escalationSeconds,
  flag,
  groupFields,
  guards,
  locationFields,
  manufacturerFields,
  mhz,
  mhzRanges,
  name,
  notificationChannelFields,
  notificationChannelType,
  notificationRuleFields,
  nullable,
  performedRole,
  performerFields,
  placeholderFields,
  placeholderKind,
  profileFields,
  profileId,
  showFields,
  slot,
  text,
  whole,
  windowMhz,
  zone,
} from './fields.ts'
import { checkResults, guardLevels, roles } from './values.ts'

const id = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number of 1 or more',
})

/** Rejects unknown keys, so that a misspelled key is not mistaken for a missing one. */
const body = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false, description: 'an object' })

/** The ids of several records for one action. */
export const Ids = body({
  ids: Type.Array(id, { minItems: 1, maxItems: 1000, description: 'a list of 1 to 1000 ids' }),
})

// --- Monitoring ------------------------------------------------------------------------------------------------------

export const SettingChange = body({
  key: text(1, 255),
  value: text(0, 4096),
  manufacturer: Type.Optional(nullable(text(1, 64), "a manufacturer's code")),
})

const connectionId = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'a whole number',
})

export const ConnectionIds = body({
  ids: Type.Array(connectionId, { minItems: 1, maxItems: 10_000, description: 'a list of ids, at least one' }),
})

export const ScanRequest = body({ scan_subnet: text(1, 64) })

// --- Alerts ----------------------------------------------------------------------------------------------------------

const reason = text(0, 500)

/** The body may be absent. */
export const AlertAcknowledgement = Type.Optional(
  body({ note: Type.Optional(nullable(reason, 'text of at most 500 characters')) }),
)

/** Either `minutes` or `until`. */
export const AlertSnooze = body({
  minutes: Type.Optional(whole(1, 10_080)),
  until: Type.Optional(Type.Enum(['cleared', 'show_end'], { description: 'cleared or show_end' })),
})

const silencedIds = Type.Optional(
  Type.Array(id, { maxItems: 1000, uniqueItems: true, description: 'a list of at most 1000 distinct ids' }),
)

/** At least one of the lists is not empty. */
export const NewSilence = body({
  channels: silencedIds,
  groups: silencedIds,
  kinds: Type.Optional(
    Type.Array(Type.Enum([...alertKinds], { description: `one of ${alertKinds.join(', ')}` }), {
      uniqueItems: true,
      description: 'a list of distinct kinds of alerts',
    }),
  ),
  until: Type.String({ format: 'date-time', description: 'a time such as 2030-12-31T00:00:00Z' }),
  reason: Type.Optional(reason),
})

// --- Hardware --------------------------------------------------------------------------------------------------------

export const GroupChange = body({ id: Type.Optional(id), title: Type.Optional(name), ...groupFields })

export const ChannelChange = body({
  slot: Type.Optional(slot),
  profile: Type.Optional(nullable(profileId, 'the id of a profile')),
})

/** Without a channel, the whole receiver flashes. */
export const IdentifyReceiver = Type.Optional(
  body({ channel: Type.Optional(whole(1, 64)), seconds: Type.Optional(whole(1, 30)) }),
)

export const SlotMovesRequest = body({
  moves: Type.Array(body({ channel_id: Type.Optional(id), placeholder_id: Type.Optional(id), slot }), {
    maxItems: 1000,
    description: 'a list of at most 1000 moves',
  }),
})

export const NewPlaceholder = body({ kind: placeholderKind, slot: Type.Optional(slot), ...placeholderFields })

export const PlaceholderChange = body({
  kind: Type.Optional(placeholderKind),
  slot: Type.Optional(slot),
  ...placeholderFields,
})

export const NewPerformer = body({ name, ...performerFields })

export const PerformerChange = body({ id: Type.Optional(id), name: Type.Optional(name), ...performerFields })

export const NewAssignment = body({
  performer: id,
  wireless_unit: id,
  role: Type.Optional(performedRole),
  is_active: Type.Optional(flag),
})

const time = text(1, 64)

export const AssignmentChange = body({
  id: Type.Optional(id),
  performer: Type.Optional(id),
  wireless_unit: Type.Optional(id),
  role: Type.Optional(performedRole),
  is_active: Type.Optional(flag),
  // These fields are read-only. They are accepted and ignored, so that a client can send back a record that it has
  // read.
  started_at: Type.Optional(time),
  ended_at: Type.Optional(nullable(time, 'text of 1 to 64 characters')),
})

// --- Shows -----------------------------------------------------------------------------------------------------------

const groupIds = Type.Array(id, {
  maxItems: 1000,
  uniqueItems: true,
  description: 'a list of at most 1000 distinct ids',
})

export const NewShow = body({ title: name, group_ids: Type.Optional(groupIds), ...showFields })

export const ShowChange = body({ title: Type.Optional(name), group_ids: Type.Optional(groupIds), ...showFields })

export const NewScene = body({ title: name })

/** The body may be absent. */
export const SceneRecallRequest = Type.Optional(body({ preview: Type.Optional(flag) }))
export const CheckBegin = body({ channel_id: id })

export const NewCheck = body({
  channel_id: id,
  result: Type.Enum([...checkResults], { description: `one of ${checkResults.join(', ')}` }),
  note: Type.Optional(nullable(text(0, 500), 'text of at most 500 characters')),
})

/** Index of a column, or its heading; null if there is no such column. */
const column = Type.Optional(
  Type.Union([whole(0, 1000), text(1, 255), Type.Null()], {
    description: 'the index of a column, from 0, its heading, or null',
  }),
)

export const CastText = body({
  text: text(1, 1_000_000),
  columns: Type.Optional(body({ slot: column, name: column, role: column, note: column, photo: column, pack: column })),
  preview: Type.Optional(flag),
})

export const MicboardConfig = body({ text: text(1, 1_000_000), preview: Type.Optional(flag) })

// --- Planning Center -------------------------------------------------------------------------------------------------

const token = text(3, 1000)
const planningCenterId = Type.Union([Type.String({ pattern: '^[\\w-]{1,64}$' }), whole(1, Number.MAX_SAFE_INTEGER)], {
  description: 'an id of Planning Center, as text or number',
})
const optionalId = Type.Optional(nullable(planningCenterId, 'an id of Planning Center, as text or number'))
const plan = {
  token: Type.Optional(token),
  service_type: planningCenterId,
  /** Default: the next plan. */
  plan: optionalId,
  /** Default: the next service of the plan. */
  time: optionalId,
}

export const PlanningCenterToken = body({ token: Type.Optional(token) })

export const PlanningCenterServiceType = body({ token: plan.token, service_type: planningCenterId })

export const PlanningCenterPlan = body(plan)

export const PlanningCenterPositionSlots = body({
  ...plan,
  positions: Type.Record(Type.String(), nullable(slot, 'a whole number from 1 to 65535'), {
    maxProperties: 1000,
    description: 'at most 1000 positions with their slots',
  }),
  remember: Type.Optional(flag),
  preview: Type.Optional(flag),
})

// --- History ---------------------------------------------------------------------------------------------------------

const momentOrRange = {
  time: Type.Optional(Type.String({ format: 'date-time', description: 'a time such as 2026-05-01T18:00:00Z' })),
  until: Type.Optional(nullable(Type.String({ format: 'date-time' }), 'a time such as 2026-05-01T18:00:00Z')),
  channel_id: Type.Optional(nullable(id, 'the id of a channel')),
}

export const NewMarker = body({ ...momentOrRange, text: text(1, 500) })

export const MarkerChange = body({ ...momentOrRange, text: Type.Optional(text(1, 500)) })

// --- Frequencies -----------------------------------------------------------------------------------------------------

const level = Type.Optional(Type.Enum([...guardLevels], { description: `one of ${guardLevels.join(', ')}` }))

/** One of the bands of the profile; another text has no effect. */
const band = text(1, 64)

/** Either a profile or guards; with neither, the generic profile. A window is given together with guards. */
const checkedCarriers = Type.Array(
  body({
    id: text(1, 255),
    mhz,
    profile: Type.Optional(text(1, 64)),
    guards: Type.Optional(guards),
    window_mhz: Type.Optional(windowMhz),
    zone: Type.Optional(zone),
    band: Type.Optional(band),
    receiver_id: Type.Optional(id),
    second_mhz: Type.Optional(mhz),
    foreign: Type.Optional(flag),
  }),
  { maxItems: 1000, description: 'a list of at most 1000 carriers' },
)

export const FrequencyCheckRequest = body({
  carriers: checkedCarriers,
  victims: Type.Optional(
    Type.Array(Type.String(), { maxItems: 1000, description: 'a list of at most 1000 ids of carriers' }),
  ),
  level,
})

export const FrequencySuggestRequest = body({
  wanted: Type.Array(
    body({ profile: text(1, 64), band: Type.Optional(band), ranges: mhzRanges(100), count: whole(1, 1000) }),
    { maxItems: 100, description: 'a list of at most 100 objects with profile, ranges and count' },
  ),
  keep: Type.Optional(checkedCarriers),
  avoid: Type.Optional(mhzRanges(1000)),
  level,
  timeout_ms: Type.Optional(whole(100, 30_000)),
})

/** Without an id, the id follows from the name. */
export const NewFrequencyProfile = body({ id: Type.Optional(profileId), name, ...profileFields })

export const FrequencyProfileChange = body({ name: Type.Optional(name), ...profileFields })

/** The fields of a form. The content of the file determines its format. */
export const NewScan = body({
  file: uploadedFile('The scan.'),
  offset_db: Type.Optional(
    Type.Number({
      minimum: -maxOffsetDb,
      maximum: maxOffsetDb,
      description: `a number of decibels from -${maxOffsetDb} to ${maxOffsetDb}, which is added to all levels`,
    }),
  ),
})

// --- Locations and receivers -----------------------------------------------------------------------------------------

const locationId = nullable(id, 'the id of a location')

export const NewLocation = body({ name, parent: Type.Optional(locationId), ...locationFields })

export const LocationChange = body({
  name: Type.Optional(name),
  parent: Type.Optional(locationId),
  ...locationFields,
})

const nullableText = (max: number) => Type.Optional(nullable(text(1, max), `text of at most ${max} characters`))

export const NewReceiver = body({
  manufacturer: text(1, 64),
  name,
  device_type: Type.Optional(text(1, 64)),
  model: nullableText(255),
  serial_number: nullableText(255),
  mac_address: nullableText(32),
  ip: nullableText(15),
  description: nullableText(1024),
  location: Type.Optional(locationId),
})

export const ReceiverChange = body({
  name: nullableText(255),
  ip: Type.Optional(text(1, 15)),
  location: Type.Optional(locationId),
  reason: Type.Optional(text(0, 1024)),
})

// --- Manufacturers ---------------------------------------------------------------------------------------------------

export const NewManufacturer = body({ code, ...manufacturerFields })

export const ManufacturerChange = body(manufacturerFields)

/** An unsaved configuration. With a `code`, it is merged into the stored configuration of that manufacturer. */
export const ManufacturerTrial = body({
  code: Type.Optional(code),
  plugin: manufacturerFields.plugin,
  config: manufacturerFields.config,
})

// --- Notifications ---------------------------------------------------------------------------------------------------

export const NewNotificationChannel = body({
  name,
  type: notificationChannelType,
  config: notificationChannelFields.config,
  enabled: notificationChannelFields.enabled,
})

export const NotificationChannelChange = body({
  name: Type.Optional(name),
  config: Type.Optional(notificationChannelFields.config),
  enabled: notificationChannelFields.enabled,
})

const notificationChannelIds = Type.Array(id, {
  minItems: 1,
  maxItems: 100,
  uniqueItems: true,
  description: 'a list of 1 to 100 distinct ids of notification channels',
})

const notificationRule = {
  ...notificationRuleFields,
  group_ids: Type.Optional(groupIds),
  escalate: Type.Optional(
    nullable(
      body({ after_seconds: escalationSeconds, notification_channel_ids: notificationChannelIds }),
      'an object with after_seconds and notification_channel_ids',
    ),
  ),
}

export const NewNotificationRule = body({
  ...notificationRule,
  name,
  notification_channel_ids: notificationChannelIds,
})

export const NotificationRuleChange = body({
  ...notificationRule,
  name: Type.Optional(name),
  notification_channel_ids: Type.Optional(notificationChannelIds),
})

// --- Accounts --------------------------------------------------------------------------------------------------------

/** Maximum size of the bodies of unauthenticated requests, which only contain credentials. */
export const credentialBytes = 1024

const role = Type.Enum([...roles], { description: roles.join(', ') })
const username = text(1, 64)
/** The minimum length is checked in `domain/access/password.ts`, with a message for users. */
const password = text(1, 1024)
const expiresAt = Type.Optional(nullable(text(1, 64), 'a time such as 2030-12-31T00:00:00Z'))

export const Login = body({ username: text(1, credentialBytes), password: text(1, credentialBytes) })

export const KioskLogin = body({ token: text(1, 128) })

export const PasswordChange = body({ current_password: password, new_password: password })

export const SetupRequest = body({ username, password, code: Type.Optional(text(1, 64)) })

export const NewUser = body({ username, password, role })

export const UserChange = body({
  role: Type.Optional(role),
  is_active: Type.Optional(flag),
  password: Type.Optional(password),
})

export const TokenRequest = body({ name, role, expires_at: expiresAt })

export const TokenChange = body({ name: Type.Optional(name), role: Type.Optional(role), expires_at: expiresAt })
