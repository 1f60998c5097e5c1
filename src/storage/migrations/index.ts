/**
 * The migrations in the order in which they are applied. Never change a released migration; add a new one at the end,
 * whose name begins with the UTC time, such as `20261122T2355Z-recordings`. Then two branches cannot choose the same name,
 * and whichever is merged first, databases receive the migration that they do not have yet.
 */

import type { Reader } from '../database.ts'
import * as firstTables from './0001-first-tables.ts'
import * as audit from './0002-audit.ts'
import * as people from './0003-people.ts'
import * as places from './0004-places.ts'
import * as hardware from './0005-hardware.ts'
import * as alerts from './0006-alerts.ts'
import * as warnings from './0007-warnings.ts'
import * as auditRequests from './0008-audit-requests.ts'
import * as largeInstallations from './0009-large-houses.ts'
import * as foundDevices from './0010-found-devices.ts'
import * as unitDetails from './0011-unit-details.ts'
import * as receiverFaults from './0012-receiver-faults.ts'
import * as deviceErrors from './0013-device-errors.ts'
import * as conditions from './20261123t0340z-conditions.ts'
import * as assignmentRoles from './20261123t0624z-assignment-roles.ts'
import * as groupSettings from './20261123t0625z-group-settings.ts'
import * as pictures from './20261123t0630z-pictures.ts'
import * as placeholders from './20261123t0630z-placeholders.ts'
import * as alertResponses from './20261123t0632z-alert-responses.ts'
import * as shows from './20261123t0645z-shows.ts'
import * as undo from './20261123t0655z-undo.ts'
import * as placeholderCounter from './20261123t1115z-placeholder-counter.ts'
import * as events from './20261123t1310z-events.ts'
import * as channelStates from './20261123t1311z-channel-states.ts'
import * as scenes from './20261123t1620z-scenes.ts'
import * as checks from './20261123t1621z-checks.ts'
import * as planningCenter from './20261123t1621z-planning-center.ts'
import * as discharges from './20261123t1630z-discharges.ts'
import * as notifications from './20261123t1934z-notifications.ts'
import * as frequencies from './20261123t2310z-frequencies.ts'
import * as scans from './20261123t2311z-scans.ts'
import * as oidc from './20261125t2105z-oidc.ts'
import * as receiverSources from './20261125t2115z-receiver-sources.ts'
import * as deliveryCounter from './20261125t2130z-delivery-counter.ts'
import * as sites from './20261126t1640z-sites.ts'
import * as siteAlerts from './20261126t1742z-site-alerts.ts'
import * as readingCounters from './20261126t2030z-reading-counters.ts'
import * as followedLevels from './20261126t2040z-followed-levels.ts'
import * as siteEvents from './20261126t2050z-site-events.ts'
import * as siteConnections from './20261127t0010z-site-connections.ts'
import * as scanUnits from './20261128t1220z-scan-units.ts'
import * as firstAlerts from './20261128t1235z-first-alerts.ts'
import * as auditClasses from './20261128t1300z-audit-classes.ts'
import * as silentSources from './20261128t1500z-silent-sources.ts'

export interface Migration {
  readonly name: string
  statements(dialect: 'sqlite' | 'postgres'): readonly string[]
  /** Converts data that the statements cannot convert; called after them. */
  convert?(query: Reader): Promise<void>
}

export const migrations: readonly Migration[] = [
  firstTables,
  audit,
  people,
  places,
  hardware,
  alerts,
  warnings,
  auditRequests,
  largeInstallations,
  foundDevices,
  unitDetails,
  receiverFaults,
  deviceErrors,
  conditions,
  assignmentRoles,
  groupSettings,
  pictures,
  placeholders,
  alertResponses,
  shows,
  undo,
  placeholderCounter,
  events,
  channelStates,
  scenes,
  checks,
  planningCenter,
  discharges,
  notifications,
  frequencies,
  scans,
  oidc,
  receiverSources,
  deliveryCounter,
  sites,
  siteAlerts,
  readingCounters,
  followedLevels,
  siteEvents,
  siteConnections,
  scanUnits,
  auditClasses,
  firstAlerts,
  silentSources,
]
