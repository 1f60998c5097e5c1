import type { ReportedChannel, ShowReport } from '../../src/contract/reports.ts'
import { formatUnit } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { alertKindTitle } from '../parts/alerts/alert-text.ts'
import { channelText, isQuiet, type ReportSummary, summarizeReport } from './report-summary.ts'

export function Summary({ report: { channels, step_seconds } }: { report: ShowReport }) {
  const summary = summarizeReport(channels)
  const lines = [...recordingLines(step_seconds), ...problemLines(summary), ...idleLines(summary, step_seconds)]
  return (
    <section className="document-summary">
      <h2>{t('report.summary')}</h2>
      <ul>
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  )
}

function recordingLines(step: number | null): readonly string[] {
  if (step === null) return [t('report.notRecorded')]
  return step > 1 ? [t('report.coarse', { duration: formatUnit('second', step) })] : []
}

function problemLines(summary: ReportSummary): readonly string[] {
  const { dropouts, longest, interference, clipping, alertKinds, unacknowledged } = summary
  if (isQuiet(summary)) return [t('report.quiet')]
  const lines = alertKinds.map(({ kind, count, channels }) =>
    t('report.alertCount', { kind: alertKindTitle(kind), count, channels: namesOf(channels) }),
  )
  if (unacknowledged > 0) lines.push(t('report.unacknowledged', { count: unacknowledged }))
  if (longest !== null) {
    const total = formatUnit('second', dropouts.seconds)
    const worst = formatUnit('second', longest.dropouts.longest_seconds)
    lines.push(t('report.dropoutCount', { count: dropouts.count, total, worst, channel: channelText(longest) }))
  }
  if (interference.count > 0)
    lines.push(t('report.interferenceCount', { count: interference.count, channels: namesOf(interference.channels) }))
  if (clipping.count > 0)
    lines.push(t('report.clippingCount', { count: clipping.count, channels: namesOf(clipping.channels) }))
  return lines
}

function idleLines({ neverOn }: ReportSummary, step: number | null): readonly string[] {
  return step === null || neverOn.length === 0 ? [] : [t('report.neverOn', { channels: namesOf(neverOn) })]
}

function namesOf(channels: readonly ReportedChannel[]): string {
  return channels.map(channelText).join(', ')
}
