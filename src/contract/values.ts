/** The values of every enumeration in the interface. Separate from the schemas, so that the pages need no TypeBox. */

export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

export const rolePermissions = [
  'read',
  'operate',
  'inspect',
  'inspect_notifications',
  'acknowledge',
  'configure',
  'review',
  'administer',
] as const
export type RolePermission = (typeof rolePermissions)[number]

/** No role includes these: an administrator grants them to users and tokens. */
export const grantedPermissions = ['listen'] as const
export type GrantedPermission = (typeof grantedPermissions)[number]

export const permissionNames = [...rolePermissions, ...grantedPermissions] as const
export type Permission = (typeof permissionNames)[number]

export const actorKinds = ['user', 'token', 'local', 'guest', 'cli', 'osc', 'notification_channel'] as const

/** Noun first. The log may contain other actions of earlier versions. */
export const auditActions = [
  'setup',
  'session.login',
  'session.logout',
  'session.kiosk',
  'session.end',
  'user.create',
  'user.change',
  'user.password',
  'user.delete',
  'user.totp',
  'token.create',
  'token.change',
  'token.revoke',
  'alert.acknowledge',
  'alert.muted_on_purpose',
  'alert.snooze',
  'alert.unacknowledge',
  'alert.unsnooze',
  'silence.create',
  'silence.delete',
  'queue.approve',
  'queue.reject',
  'queue.mark_duplicate',
  'queue.reopen',
  'movement.acknowledge',
  'connection.start',
  'connection.stop',
  'receiver.add',
  'receiver.identify',
  'receiver.scan',
  'receiver.end_scan',
  'capture.start',
  'receiver.change',
  'receiver.delete',
  'location.add',
  'location.change',
  'location.delete',
  'channel.move',
  'channel.change',
  'channel.not_now',
  'channel.audio',
  'listen.start',
  'listen.stop',
  'clip.play',
  'clip.delete',
  'slots.change',
  'slot.change',
  'slot.swap',
  'slot.delete',
  'placeholder.create',
  'placeholder.change',
  'placeholder.delete',
  'frequency_profile.create',
  'frequency_profile.change',
  'frequency_profile.delete',
  'audio_stream.create',
  'audio_stream.change',
  'audio_stream.delete',
  'frequency_plan.create',
  'frequency_plan.change',
  'frequency_plan.delete',
  'frequency_plan.use',
  'group.create',
  'group.change',
  'group.delete',
  'performer.create',
  'performer.change',
  'performer.delete',
  'assignment.create',
  'assignment.change',
  'assignment.delete',
  'cast.import',
  'micboard.import',
  'planning_center.import',
  'planning_center.remember',
  'planning_center.forget',
  'undo',
  'show.create',
  'show.change',
  'show.delete',
  'show.start',
  'show.end',
  'scene.create',
  'scene.change',
  'scene.delete',
  'scene.recall',
  'check.begin',
  'check.create',
  'handover.close',
  'marker.create',
  'marker.change',
  'marker.delete',
  'scan.upload',
  'scan.delete',
  'scan.choose',
  'bands.change',
  'tv_stations.import',
  'coordination.import',
  'scan.keep',
  'history.prune',
  'settings.change',
  'settings.forget',
  'manufacturer.create',
  'manufacturer.change',
  'manufacturer.delete',
  'manufacturer.test',
  'notification_channel.create',
  'notification_channel.change',
  'notification_channel.delete',
  'notification_channel.test',
  'notification_channel.rotate',
  'notification_channel.disable',
  'notification_rule.create',
  'notification_rule.change',
  'notification_rule.delete',
  'network.scan',
  'discovery_list.add',
  'discovery_list.remove',
  'configuration.import',
  'service.start',
  'store.restore',
  'store.repair',
  'store.acknowledge',
  'log_level.change',
  'backup.create',
  'support_bundle.create',
] as const
export type AuditAction = (typeof auditActions)[number]

export const auditClasses = ['administration', 'operation', 'minor'] as const
export type AuditClass = (typeof auditClasses)[number]

export const auditResults = ['ok', 'refused', 'failed'] as const

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

export const alertStates = ['raised', 'snoozed', 'acknowledged', 'cleared'] as const
export type AlertState = (typeof alertStates)[number]

export const notificationTypes = ['alert.raised', 'alert.repeated', 'alert.escalated', 'alert.cleared', 'test'] as const
export type NotificationType = (typeof notificationTypes)[number]

export const deliveryStatuses = ['pending', 'sent', 'failed', 'expired'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error'] as const
export const backupStates = ['present', 'changed', 'missing'] as const
export type BackupState = (typeof backupStates)[number]

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof weekdays)[number]

export const sourceStatuses = ['healthy', 'unknown', 'degraded', 'unhealthy'] as const
export type SourceStatus = (typeof sourceStatuses)[number]

export const upstreamStatuses = [...sourceStatuses, 'disabled', 'unconfigured'] as const
export type UpstreamStatus = (typeof upstreamStatuses)[number]

export const connectionStatuses = ['connecting', 'connected', 'disconnected', 'error', 'stopped'] as const
export type ConnectionStatus = (typeof connectionStatuses)[number]

export const transports = ['websocket', 'sse', 'tcp', 'udp'] as const
export type Transport = (typeof transports)[number]

export const unitTypes = ['mic_transmitter', 'iem_receiver', 'beltpack'] as const
export type UnitType = (typeof unitTypes)[number]

export const onlineStates = ['online', 'offline', 'unknown'] as const
export type OnlineState = (typeof onlineStates)[number]

export const networkModes = ['auto', 'manual', 'dhcp', 'static'] as const
export type NetworkMode = (typeof networkModes)[number]

export const showStates = ['planned', 'running', 'ended'] as const
export type ShowState = (typeof showStates)[number]

/** `blank` is a place on the wall that is left empty; the other kinds are equipment without telemetry. */
export const placeholderKinds = ['wired', 'wireless', 'iem', 'blank'] as const
export type PlaceholderKind = (typeof placeholderKinds)[number]

export const slotColors = [
  'red',
  'orange',
  'amber',
  'yellow',
  'lime',
  'green',
  'teal',
  'blue',
  'indigo',
  'violet',
  'pink',
  'grey',
] as const
export type SlotColor = (typeof slotColors)[number]

/** Where the title of a slot comes from: the first that is known. */
export const titleSources = ['performer', 'label', 'channel', 'transmitter', 'receiver'] as const
export type TitleSource = (typeof titleSources)[number]

export const deviceTypes = ['receiver', 'transmitter'] as const

export const conflictTypes = ['ip_changed', 'ip_conflict', 'hardware_changed', 'manufacturer_mismatch'] as const
export type ConflictType = (typeof conflictTypes)[number]

export const queueStatuses = ['pending', 'approved', 'rejected', 'imported', 'duplicate'] as const
export type QueueStatus = (typeof queueStatuses)[number]

export const encryptions = ['off', 'on', 'error'] as const
export type Encryption = (typeof encryptions)[number]

/** For equipment that does not report dBFS. */
export const audioActivities = ['low', 'good', 'clipping'] as const
export type AudioActivity = (typeof audioActivities)[number]

/** Why sound that broke off is taken for a dropout. */
export const dropoutEvidence = ['rf', 'return'] as const

export const forecastSources = ['device', 'history'] as const

/** Of a transmitter in its charger. */
export const chargingStates = ['charging', 'full'] as const
export type ChargingState = (typeof chargingStates)[number]

/** In the order of precedence. */
export const evaluatedStates = [
  'receiver_offline',
  'stale',
  'no_levels',
  'encryption_error',
  'battery_critical',
  'battery_died',
  'interference',
  'rf_weak',
  'battery_low',
  'no_audio',
  'muted',
  'clipping',
  'battery_replace_soon',
  'charging',
  'tx_off',
  'no_battery_data',
] as const
/** In the order of precedence. */
export const conditionStates = [...evaluatedStates, 'ok', 'unmonitored'] as const

export const conditionSeverities = ['ok', ...severities] as const

export const conditionFlags = [...evaluatedStates, 'rf_fair', 'rf_concealed'] as const

export const eventKinds = [
  'transmitter_on',
  'transmitter_off',
  'rf_dropout',
  'interference',
  'clipping',
  'audio_dropout',
  'audio_clipping',
  'muted',
  'unmuted',
  'battery_low',
  'battery_critical',
  'battery_changed',
  'frequency_changed',
  'renamed',
  'assigned',
  'unassigned',
  'receiver_offline',
  'receiver_online',
  'moved',
  'swapped',
  'source_failing',
  'source_recovered',
  'alert_raised',
  'alert_acknowledged',
  'alert_cleared',
  'marker',
  'show_started',
  'show_ended',
  'check',
  'recording_gap',
] as const
export type EventKind = (typeof eventKinds)[number]

/** The kinds of events for which sound can be kept. */
export const evidenceKinds = ['rf_dropout', 'interference', 'audio_dropout', 'audio_clipping', 'marker'] as const

/** The kinds in the `events` of a handover. */
export const handoverEvents = ['rf_dropout', 'battery_died', 'receiver_offline', 'source_failing'] as const
export type HandoverEventKind = (typeof handoverEvents)[number]

/** The fields of a slot that people enter. */
export const slotFields = [
  'performer',
  'role',
  'label',
  'color',
  'note',
  'planned_frequency',
  'planned_profile',
  'planned_transmitter',
  'spares',
] as const

export const recordedChanges = [...slotFields, 'moved', 'equipment', 'name', 'setting', 'frequency_plan'] as const
export type RecordedChange = (typeof recordedChanges)[number]

/** The kinds in the `changes` of a handover. */
export const handoverChanges = [...recordedChanges, 'frequency'] as const
export type HandoverChangeKind = (typeof handoverChanges)[number]

/** The halves of two slots that are exchanged. */
export const swapKinds = ['people', 'equipment'] as const
export type SwapKind = (typeof swapKinds)[number]

export const changeReasons = ['will_not_last', 'nearly_empty', 'unknown'] as const
export type ChangeReason = (typeof changeReasons)[number]

/** Why a mapping of a channel to an audio stream is proposed. */
export const proposalReasons = ['label', 'device', 'address'] as const

export const checkResults = ['pass', 'fail'] as const
export type CheckResult = (typeof checkResults)[number]

export const scanFormats = [
  'csv',
  'rf_explorer',
  'wsm',
  'sdb2',
  'sdb3',
  'rtl_power',
  'hackrf_sweep',
  'rohde_schwarz',
  'keysight',
  'anritsu',
  'sweeps',
  'mixed',
] as const
export type ScanFormat = (typeof scanFormats)[number]

/** Files of Wireless Workbench and WSM that contain the frequencies of a show. */
export const coordinationFormats = ['shw', 'cws', 'wsm', 'wwb_csv'] as const
export type CoordinationFormat = (typeof coordinationFormats)[number]

/** The property that a device in a coordination has in common with a receiver. */
export const deviceMatches = ['serial_number', 'address', 'name'] as const
export type DeviceMatchKind = (typeof deviceMatches)[number]

export const gapReasons = ['stopped', 'storage', 'off'] as const
export type GapReason = (typeof gapReasons)[number]

/** Determines the raster of TV channels. */
export const regions = ['US', 'EU', 'AU', 'JP', 'NZ', 'BR'] as const
export type Region = (typeof regions)[number]

export const bandStatuses = ['free', 'licensed', 'temporary', 'forbidden'] as const
export type BandStatus = (typeof bandStatuses)[number]

/** `robust` keeps the most distance; `more` fits the most carriers. */
export const guardLevels = ['robust', 'standard', 'more'] as const
export type GuardLevel = (typeof guardLevels)[number]

export const productKinds = ['2t3o', '3t3o', '2t5o', '2t7o', '2t9o'] as const
export type ProductKind = (typeof productKinds)[number]

/** For alerts about a battery: the value at its limit, or the transmitter's own warning. */
export const crossedValues = ['battery', 'minutes_left', 'warning'] as const
export type CrossedValue = (typeof crossedValues)[number]

/** Conflicts with the same offset are listed in this order. */
export const conflictKinds = [
  'foreign',
  'outside_band',
  'tv',
  'occupied',
  'duplicate',
  'spacing',
  'peak',
  '2t3o',
  '2t5o',
  '2t7o',
  '2t9o',
  '3t3o',
] as const
export type ConflictKind = (typeof conflictKinds)[number]

/** These may remain where a suggestion finds no frequency without conflicts. */
export const softKinds = ['spacing', ...productKinds, 'occupied', 'peak', 'tv'] as const

/** Why a carrier is not placed. Of two equally frequent kinds, the first one counts. */
export const reasonKinds = [
  'spacing',
  '2t3o',
  '3t3o',
  '2t5o',
  '2t7o',
  '2t9o',
  'occupied',
  'peak',
  'tv',
  'outside_band',
  'time',
] as const
export type ReasonKind = (typeof reasonKinds)[number]

/** `unmeasured`: no scan covers the frequency of the carrier. */
export const measuredStates = ['free', 'occupied', 'unmeasured'] as const
export type MeasuredState = (typeof measuredStates)[number]

/** `wwb` is `list`. */
export const carrierFormats = ['csv', 'list', 'wwb', 'wsm'] as const
export type CarrierFormat = (typeof carrierFormats)[number]

/** The first that applies to a carrier of a plan. */
export const planResults = ['missing', 'differs', 'off', 'same'] as const
export type PlanResult = (typeof planResults)[number]

/** These disturb at once, while the carriers are on. */
export const criticalConflictKinds = ['duplicate', 'foreign', 'spacing'] as const satisfies readonly ConflictKind[]

/** The last two fit more channels into the same spectrum. */
export const transmissionModes = ['standard', 'high_density', 'link_density'] as const
export type TransmissionMode = (typeof transmissionModes)[number]

/**
 * The link between a receiver and the transmitter in a slot of a channel. Active and inactive transmitters are linked to it,
 * with and without a connection at present; a standard transmitter is registered, but reports only while it is received.
 */
export const slotStatuses = ['active', 'inactive', 'standard'] as const
export type SlotStatus = (typeof slotStatuses)[number]

/** Two carriers for one transmitter or two transmitters (Axient Digital: FD-C combines, FD-S selects). */
export const frequencyDiversities = ['off', 'combining', 'selection'] as const
export type FrequencyDiversity = (typeof frequencyDiversities)[number]

export const inputLevels = ['aux', 'line'] as const
export type InputLevel = (typeof inputLevels)[number]

export const audioModes = ['mono', 'point_to_point', 'stereo'] as const
export type AudioMode = (typeof audioModes)[number]

export const transmitterLocks = ['none', 'power', 'menu', 'all'] as const
export type TransmitterLock = (typeof transmitterLocks)[number]

export const micboardStatuses = ['CRITICAL', 'REPLACE', 'RX_COM_ERROR', 'TX_COM_ERROR', 'GOOD'] as const
export type MicboardStatus = (typeof micboardStatuses)[number]
