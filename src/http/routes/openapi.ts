/** The documentation of every route, as far as the route's own definition does not contain it. */

import Type, { type TSchema } from 'typebox'
import * as admin from '../../contract/admin.ts'
import { countedOf, listOf, pageOf } from '../../contract/described.ts'
import * as live from '../../contract/live.ts'
import { auditResults } from '../../domain/access/access.ts'
import { alertStates } from '../../domain/alerts/alert.ts'
import { connectionStatuses } from '../../domain/equipment/connection.ts'
import { queueStatuses } from '../../domain/equipment/discovery.ts'
import { onlineStates, unitTypes } from '../../domain/equipment/hardware.ts'

export const tags = {
  Monitoring: 'Receivers, their channels and the health of the service.',
  Hardware: 'Groups, chassis, units, performers and assignments.',
  Discovery: 'Network scans, devices that are waiting for review, and movements.',
  Account: 'Sign-in, sign-out and set-up.',
  Review: 'Review of devices, and administration of receivers and locations.',
  Administration: 'Manufacturers, settings, users, tokens, the database and the audit log.',
} as const

/** Documentation of one route. */
export interface Operation {
  readonly tag: keyof typeof tags
  /** One sentence. */
  readonly summary: string
  readonly query?: Readonly<Record<string, TSchema>>
  /** Response schemas by status; null if the response has no body. */
  readonly responses: Readonly<Record<number, TSchema | null>>
  /** Error statuses in addition to those that every route can return. */
  readonly errorStatuses?: readonly number[]
}

const manufacturer = {
  manufacturer: Type.String({ description: 'Code of a manufacturer, to return only its records.' }),
}
const group = {
  group: Type.Integer({ minimum: 1, description: 'Id of a group, to return only channels whose slot is in it.' }),
}
const paging = {
  page: Type.Integer({ minimum: 1, description: 'Page number; default 1.' }),
  page_size: Type.Integer({ minimum: 1, description: 'Items per page; default 100, at most 1000.' }),
}
const flagOf = (description: string) => Type.Boolean({ description })
const idOf = (description: string) => Type.Integer({ minimum: 1, description })
const percentOf = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description })
const choiceOf = <Values extends string[]>(values: readonly [...Values], description: string) =>
  Type.Enum(values, { description })
const dayOf = (description: string) =>
  Type.String({ description: `${description}; a date or a time such as 2026-05-01T18:00:00Z.` })

/** Describes the response of a list: a bare array or, with `page` or `page_size`, one page of it. */
const list = (item: TSchema) => ({
  200: Type.Union([listOf(item, 'All items, if the request asks for no page.'), pageOf(item)], {
    description: 'All items, or the requested page.',
  }),
})
const counted = (item: TSchema) => ({ 200: countedOf(item) })
const ok = (body: TSchema) => ({ 200: body })
const created = (body: TSchema) => ({ 201: body })
const noContent = { 204: null }
const notModified = { 304: null }

export const operations: Readonly<Record<string, Operation>> = {
  // --- Monitoring
  'GET /api/data.json': {
    tag: 'Monitoring',
    summary: 'All receivers with their channels, discovered devices, settings and groups.',
    query: { ...manufacturer, ...group },
    responses: { ...ok(live.Data), ...notModified },
  },
  'GET /api/data': {
    tag: 'Monitoring',
    summary: 'The same as `/api/data.json`.',
    query: { ...manufacturer, ...group },
    responses: { ...ok(live.Data), ...notModified },
  },
  'GET /api/receivers': {
    tag: 'Monitoring',
    summary: 'Summaries of all receivers.',
    query: { ...manufacturer, ...paging },
    responses: { ...list(live.ReceiverSummary), ...notModified },
  },
  'GET /api/receivers/{id}': {
    tag: 'Monitoring',
    summary: 'One receiver with all known details.',
    query: manufacturer,
    responses: { ...ok(live.ReceiverDetail), ...notModified },
  },
  'GET /api/health': {
    tag: 'Monitoring',
    summary: 'Health of the service and its upstreams; 503 with the same body while the database is unreachable.',
    query: { manufacturer: Type.String({ description: 'Code of the manufacturer for `vendor_api`.' }) },
    responses: { 200: live.Health, 503: live.Health },
  },
  'POST /api/refresh': {
    tag: 'Monitoring',
    summary: 'Polls immediately.',
    query: manufacturer,
    responses: ok(live.Refresh),
    errorStatuses: [404, 409],
  },
  'GET /api/config': {
    tag: 'Monitoring',
    summary: 'The effective settings: the global ones, or those of one manufacturer.',
    query: manufacturer,
    responses: ok(live.Configuration),
  },
  'POST /api/config': {
    tag: 'Monitoring',
    summary: 'Changes one setting and returns the effective settings.',
    query: manufacturer,
    responses: ok(live.Configuration),
    errorStatuses: [404],
  },
  'GET /api/alerts': {
    tag: 'Monitoring',
    summary: 'Raised and cleared alerts.',
    query: {
      state: choiceOf(alertStates, 'Only records with this value.'),
      receiver: idOf('Id of a receiver, to return only alerts about it and its channels.'),
      ...manufacturer,
      ...paging,
    },
    responses: list(live.Alert),
  },
  'GET /api/openapi.json': {
    tag: 'Monitoring',
    summary: 'This document.',
    responses: { 200: Type.Object({}, { description: 'An OpenAPI 3.1 document.' }), ...notModified },
  },
  'GET /api/asyncapi.json': {
    tag: 'Monitoring',
    summary: 'The description of the WebSocket.',
    responses: { 200: Type.Object({}, { description: 'An AsyncAPI 3.0 document.' }), ...notModified },
  },

  // --- Hardware
  'GET /api/groups': {
    tag: 'Hardware',
    summary: 'Groups of slots.',
    query: { ...manufacturer, ...paging },
    responses: list(live.Group),
  },
  'PUT /api/groups/{id}': {
    tag: 'Hardware',
    summary: 'Changes the given fields of a group.',
    query: manufacturer,
    responses: ok(live.Group),
  },
  'DELETE /api/groups/{id}': {
    tag: 'Hardware',
    summary: 'Removes a group.',
    query: manufacturer,
    responses: noContent,
  },
  'POST /api/group': {
    tag: 'Hardware',
    summary: 'Changes the group with the given `id`; creates a group if there is no `id`.',
    query: manufacturer,
    responses: { 200: live.Group, 201: live.Group },
    errorStatuses: [404],
  },
  'GET /api/groups/{id}': { tag: 'Hardware', summary: 'One group.', query: manufacturer, responses: ok(live.Group) },
  'GET /api/channels': {
    tag: 'Hardware',
    summary: 'Channels of all receivers.',
    query: { ...manufacturer, ...paging },
    responses: list(live.ListedChannel),
  },
  'GET /api/channels/{id}': {
    tag: 'Hardware',
    summary: 'One channel.',
    query: manufacturer,
    responses: ok(live.ListedChannel),
  },
  'PATCH /api/channels/{id}': {
    tag: 'Hardware',
    summary: 'Moves a channel to another slot.',
    query: manufacturer,
    responses: ok(live.Channel),
    errorStatuses: [409],
  },
  'GET /api/chassis': {
    tag: 'Hardware',
    summary: 'Receivers as physical units.',
    query: { status: choiceOf(onlineStates, 'Only records with this value.'), ...manufacturer, ...paging },
    responses: list(live.Chassis),
  },
  'GET /api/chassis/{id}': {
    tag: 'Hardware',
    summary: 'One receiver as a physical unit.',
    query: manufacturer,
    responses: ok(live.Chassis),
  },
  'GET /api/units/{id}': {
    tag: 'Hardware',
    summary: 'One transmitter or in-ear pack.',
    query: manufacturer,
    responses: ok(live.Unit),
  },
  'GET /api/units': {
    tag: 'Hardware',
    summary: 'Transmitters and in-ear packs.',
    query: {
      battery_percentage: percentOf('Only units with exactly this battery level.'),
      battery_percentage__gte: percentOf('Only units with at least this battery level.'),
      battery_percentage__lte: percentOf('Only units with at most this battery level.'),
      base_chassis: idOf('Id of a chassis, to return only units that it receives or that are docked in it.'),
      device_type: choiceOf(unitTypes, 'Only records with this value.'),
      status: choiceOf(onlineStates, 'Only records with this value.'),
      ...manufacturer,
      ...paging,
    },
    responses: list(live.Unit),
  },
  'GET /api/performers': {
    tag: 'Hardware',
    summary: 'Performers. They do not belong to a manufacturer.',
    query: {
      manufacturer: Type.String({
        description: 'Returns all performers if this manufacturer exists, and none if it does not.',
      }),
      ...paging,
    },
    responses: list(live.Performer),
  },
  'GET /api/performers/{id}': { tag: 'Hardware', summary: 'One performer.', responses: ok(live.Performer) },
  'POST /api/performers': { tag: 'Hardware', summary: 'Adds a performer.', responses: created(live.Performer) },
  'PUT /api/performers/{id}': { tag: 'Hardware', summary: 'Changes a performer.', responses: ok(live.Performer) },
  'DELETE /api/performers/{id}': {
    tag: 'Hardware',
    summary: 'Removes a performer.',
    responses: noContent,
    errorStatuses: [409],
  },
  'GET /api/assignments': {
    tag: 'Hardware',
    summary: 'Assignments of units to performers.',
    query: {
      is_active: flagOf('Only records with this value.'),
      performer: idOf('Only assignments of the performer with this id.'),
      wireless_unit: idOf('Only assignments of the unit with this id.'),
      names: flagOf('Include the name of each performer and a tag that changes with the picture.'),
      ...manufacturer,
      ...paging,
    },
    responses: list(live.Assignment),
  },
  'POST /api/assignments': {
    tag: 'Hardware',
    summary: 'Assigns a unit to a performer.',
    responses: created(live.Assignment),
    errorStatuses: [409],
  },
  'PUT /api/assignments/{id}': {
    tag: 'Hardware',
    summary: 'Changes an assignment.',
    responses: ok(live.Assignment),
    errorStatuses: [409],
  },
  'DELETE /api/assignments/{id}': { tag: 'Hardware', summary: 'Removes an assignment.', responses: noContent },

  // --- Discovery
  'POST /api/discover': {
    tag: 'Discovery',
    summary: 'Scans a subnet for devices.',
    query: manufacturer,
    responses: ok(admin.Scan),
    errorStatuses: [404, 409],
  },
  'GET /api/discovery/pending': {
    tag: 'Discovery',
    summary: 'Devices that are waiting for review.',
    query: { ...manufacturer, ...paging },
    responses: counted(admin.Pending),
  },
  'GET /api/movements/unacknowledged': {
    tag: 'Discovery',
    summary: 'Unacknowledged movements.',
    query: { ...manufacturer, ...paging },
    responses: counted(admin.Movement),
  },

  // --- Account
  'POST /api/auth/login': {
    tag: 'Account',
    summary: 'Signs in: sets the session cookie and returns the CSRF token.',
    responses: ok(admin.SignedIn),
    errorStatuses: [401],
  },
  'POST /api/auth/kiosk': {
    tag: 'Account',
    summary: 'Signs a kiosk screen in with an API token of the role `viewer`, until that token expires.',
    responses: ok(admin.KioskOpen),
    errorStatuses: [401, 403],
  },
  'POST /api/auth/logout': { tag: 'Account', summary: 'Signs out.', responses: noContent },
  'GET /api/auth/session': {
    tag: 'Account',
    summary: 'The identity and permissions of the request.',
    responses: ok(admin.Session),
  },
  'POST /api/auth/password': {
    tag: 'Account',
    summary: "Changes the signed-in user's password and signs the user out everywhere else.",
    responses: ok(admin.SignedIn),
  },
  'GET /api/auth/setup': {
    tag: 'Account',
    summary: 'Whether the service needs its first administrator.',
    responses: ok(admin.Setup),
  },
  'POST /api/auth/setup': {
    tag: 'Account',
    summary: 'Creates the first administrator and signs in.',
    responses: created(admin.SignedIn),
    errorStatuses: [409],
  },

  // --- Review
  'GET /api/admin/discovery-queue': {
    tag: 'Review',
    summary: 'The review queue; each entry contains the receiver with which it conflicts.',
    query: {
      status: choiceOf(queueStatuses, 'Only records with this value.'),
      device_type: choiceOf(['receiver', 'transmitter'], 'Only records with this value.'),
      is_duplicate: flagOf('Only records with this value.'),
      is_ip_conflict: flagOf('Only records with this value.'),
      discovered_after: dayOf('Discovered at or after this time'),
      discovered_before: dayOf('Discovered before this time'),
      ...manufacturer,
      ...paging,
    },
    responses: list(admin.QueueEntry),
  },
  'POST /api/admin/discovery-queue/approve': {
    tag: 'Review',
    summary: 'Approves entries and imports them as receivers.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'POST /api/admin/discovery-queue/reject': {
    tag: 'Review',
    summary: 'Rejects entries: they are kept, but not imported automatically.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'POST /api/admin/discovery-queue/mark-duplicate': {
    tag: 'Review',
    summary: 'Marks entries as duplicates of known devices.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'POST /api/admin/discovery-queue/reopen': {
    tag: 'Review',
    summary: 'Returns rejected and duplicate entries to the review queue.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'GET /api/admin/movements': {
    tag: 'Review',
    summary: 'The movement log.',
    query: { acknowledged: flagOf('Only records with this value.'), ...manufacturer, ...paging },
    responses: list(admin.Movement),
  },
  'POST /api/admin/movements/acknowledge': {
    tag: 'Review',
    summary: 'Acknowledges movements.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'GET /api/admin/realtime-connections': {
    tag: 'Review',
    summary: 'The real-time subscriptions of receivers.',
    query: { status: choiceOf(connectionStatuses, 'Only records with this value.'), ...manufacturer, ...paging },
    responses: list(live.RealtimeConnection),
  },
  'POST /api/admin/realtime-connections/stop': {
    tag: 'Review',
    summary: 'Stops subscriptions until a user starts them again.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'POST /api/admin/realtime-connections/start': {
    tag: 'Review',
    summary: 'Starts subscriptions that were stopped.',
    responses: ok(admin.Review),
    errorStatuses: [409],
  },
  'GET /api/admin/receivers': {
    tag: 'Review',
    summary: 'All receivers with all known details.',
    query: { ...manufacturer, ...paging },
    responses: list(live.ReceiverDetail),
  },
  'POST /api/admin/receivers': {
    tag: 'Review',
    summary: 'Adds a receiver that no system has reported.',
    responses: created(live.ReceiverDetail),
    errorStatuses: [409],
  },
  'PATCH /api/admin/receivers/{id}': {
    tag: 'Review',
    summary: 'Changes the name, address or location of a receiver. A new address or location is logged as a movement.',
    responses: ok(live.ReceiverDetail),
    errorStatuses: [409],
  },
  'DELETE /api/admin/receivers/{id}': {
    tag: 'Review',
    summary: 'Removes a receiver.',
    responses: noContent,
    errorStatuses: [409],
  },
  'GET /api/admin/locations': {
    tag: 'Review',
    summary: 'Locations.',
    query: paging,
    responses: list(admin.Location),
  },
  'POST /api/admin/locations': {
    tag: 'Review',
    summary: 'Adds a location.',
    responses: created(admin.Location),
    errorStatuses: [409],
  },
  'PATCH /api/admin/locations/{id}': {
    tag: 'Review',
    summary: 'Changes a location.',
    responses: ok(admin.Location),
    errorStatuses: [409],
  },
  'DELETE /api/admin/locations/{id}': {
    tag: 'Review',
    summary: 'Removes an empty location.',
    responses: noContent,
    errorStatuses: [409],
  },
  'GET /api/admin/hardware-layout': {
    tag: 'Review',
    summary: 'Locations with their receivers and channels.',
    query: manufacturer,
    responses: ok(admin.Layout),
  },

  // --- Administration
  'GET /api/admin/manufacturers': {
    tag: 'Administration',
    summary: 'Manufacturers with their configuration, without secrets.',
    query: { ...manufacturer, ...paging },
    responses: list(admin.ManufacturerRecord),
  },
  'POST /api/admin/manufacturers': {
    tag: 'Administration',
    summary: 'Adds a manufacturer.',
    responses: created(admin.ManufacturerRecord),
    errorStatuses: [409],
  },
  'PATCH /api/admin/manufacturers/{code}': {
    tag: 'Administration',
    summary: 'Changes a manufacturer; keys of `config` are merged into the stored configuration.',
    responses: ok(admin.ManufacturerRecord),
    errorStatuses: [409],
  },
  'DELETE /api/admin/manufacturers/{code}': {
    tag: 'Administration',
    summary: 'Removes a manufacturer.',
    responses: noContent,
    errorStatuses: [409],
  },
  'POST /api/admin/manufacturers/test': {
    tag: 'Administration',
    summary:
      'Tests a configuration without storing it. With a `code`, it is merged into the stored configuration of that manufacturer.',
    responses: ok(admin.Tested),
  },
  'GET /api/admin/plugins': {
    tag: 'Administration',
    summary: "Plugins for manufacturers' systems.",
    query: paging,
    responses: list(admin.Plugin),
  },
  'POST /api/admin/manufacturers/{code}/test': {
    tag: 'Administration',
    summary: "Tests the connection to the manufacturer's systems, even if the manufacturer is disabled.",
    responses: ok(admin.Tested),
  },
  'GET /api/admin/settings': {
    tag: 'Administration',
    summary: 'The effective settings, global and per manufacturer, and where each value comes from.',
    query: { ...manufacturer, ...paging },
    responses: list(admin.ScopedSettings),
  },
  'DELETE /api/admin/settings/{key}': {
    tag: 'Administration',
    summary:
      'Deletes a stored setting, global or of one manufacturer, so that the value that it overrode applies again.',
    query: manufacturer,
    responses: noContent,
  },
  'GET /api/admin/users': { tag: 'Administration', summary: 'Users.', query: paging, responses: list(admin.User) },
  'POST /api/admin/users': {
    tag: 'Administration',
    summary: 'Adds a user.',
    responses: created(admin.User),
    errorStatuses: [409],
  },
  'PATCH /api/admin/users/{id}': {
    tag: 'Administration',
    summary: 'Changes the role, password or active state of a user.',
    responses: ok(admin.User),
    errorStatuses: [409],
  },
  'DELETE /api/admin/users/{id}': {
    tag: 'Administration',
    summary: 'Removes a user.',
    responses: noContent,
    errorStatuses: [409],
  },
  'GET /api/admin/tokens': {
    tag: 'Administration',
    summary: 'API tokens, without their secrets.',
    query: paging,
    responses: list(admin.Token),
  },
  'POST /api/admin/tokens': {
    tag: 'Administration',
    summary: 'Creates a token. Only this response contains its secret.',
    responses: created(admin.NewToken),
  },
  'PATCH /api/admin/tokens/{id}': {
    tag: 'Administration',
    summary: 'Changes the name, role or expiry of a token.',
    responses: ok(admin.Token),
  },
  'DELETE /api/admin/tokens/{id}': { tag: 'Administration', summary: 'Revokes a token.', responses: noContent },
  'GET /api/admin/nodes': {
    tag: 'Administration',
    summary: 'The processes that use this database, and the sources assigned to them.',
    responses: ok(admin.Nodes),
  },
  'POST /api/admin/store/acknowledge': {
    tag: 'Administration',
    summary: 'Acknowledges that the database was damaged and replaced by a snapshot.',
    responses: ok(admin.StoreAcknowledged),
  },
  'GET /api/admin/audit': {
    tag: 'Administration',
    summary: 'The audit log, newest first; without paging, the newest 1000 records.',
    query: {
      action: Type.String({ description: 'Only this action, or all actions with this prefix if it ends with a dot.' }),
      actor: Type.String({ description: 'Only records whose actor name contains this text.' }),
      result: choiceOf(auditResults, 'Only records with this value.'),
      after: dayOf('At or after this time'),
      before: dayOf('Before this time'),
      ...paging,
    },
    responses: list(admin.Audit),
  },
}
