/** All operations of the REST interface. */

import { accessOperations } from './access.ts'
import { alertOperations } from './alerts.ts'
import { audioStreamOperations } from './audio-streams.ts'
import { backupOperations } from './backups.ts'
import { captureOperations } from './captures.ts'
import { channelOperations } from './channels.ts'
import { checkOperations } from './checks.ts'
import { clipOperations } from './clips.ts'
import { configurationOperations } from './configuration.ts'
import { connectionOperations } from './connections.ts'
import { dataOperations } from './data.ts'
import { discoveryOperations } from './discovery.ts'
import { frequencyOperations } from './frequencies.ts'
import { frequencyPlanOperations } from './frequency-plans.ts'
import { frequencyProfileOperations } from './frequency-profiles.ts'
import { groupOperations } from './groups.ts'
import { handoverOperations } from './handovers.ts'
import { hardwareOperations } from './hardware.ts'
import { healthOperations } from './health.ts'
import { historyOperations } from './history.ts'
import { importOperations } from './imports.ts'
import { ingestOperations } from './ingest.ts'
import { listeningOperations } from './listening.ts'
import { locationOperations } from './locations.ts'
import { manufacturerOperations } from './manufacturers.ts'
import { notificationOperations } from './notifications.ts'
import { performerOperations } from './performers.ts'
import { placeholderOperations } from './placeholders.ts'
import { placeOperations } from './places.ts'
import { receiverOperations } from './receivers.ts'
import { reportOperations } from './reports.ts'
import { scanOperations } from './scans.ts'
import { showOperations } from './shows.ts'
import { siteOperations } from './sites.ts'
import { slotOperations } from './slots.ts'
import { sweepOperations } from './sweeps.ts'

export const operations = {
  ...accessOperations,
  ...alertOperations,
  ...audioStreamOperations,
  ...backupOperations,
  ...captureOperations,
  ...channelOperations,
  ...checkOperations,
  ...clipOperations,
  ...configurationOperations,
  ...connectionOperations,
  ...dataOperations,
  ...discoveryOperations,
  ...frequencyOperations,
  ...frequencyProfileOperations,
  ...frequencyPlanOperations,
  ...groupOperations,
  ...handoverOperations,
  ...hardwareOperations,
  ...healthOperations,
  ...historyOperations,
  ...importOperations,
  ...ingestOperations,
  ...listeningOperations,
  ...locationOperations,
  ...manufacturerOperations,
  ...notificationOperations,
  ...performerOperations,
  ...placeholderOperations,
  ...placeOperations,
  ...receiverOperations,
  ...reportOperations,
  ...scanOperations,
  ...showOperations,
  ...siteOperations,
  ...slotOperations,
  ...sweepOperations,
}
