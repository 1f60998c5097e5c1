import { maxChannels } from '../../contract/ingest.ts'

/** Limits for the records of a followed site that are shown and stored. */
export const siteLimits = {
  receivers: 10_000,
  channelsPerReceiver: maxChannels,
  levels: 100_000,
  alerts: 10_000,
  events: 500,
  shows: 1000,
  sites: 1000,
  assignments: 100_000,
} as const
