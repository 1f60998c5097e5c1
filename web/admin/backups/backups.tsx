import { useEffect, useState } from 'react'
import type { BackupsBody } from '../../../src/contract/backups.ts'
import { weekdays } from '../../../src/contract/values.ts'
import { useServices } from '../../app/context.ts'
import {
  formatBytes,
  formatDuration,
  formatList,
  formatPeriod,
  formatShortDuration,
  formatWeekday,
  plainText,
  toSentence,
} from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useNow } from '../../app/now.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { Shell } from '../../app/shell.tsx'
import { Ago } from '../../parts/age.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Pairs } from '../../parts/pairs.tsx'
import { StateIcon } from '../../parts/state-icon.tsx'
import '../../parts/boxes.css'
import { BackupFiles } from './backup-files.tsx'
import './backups.css'
import { Restore } from './restore.tsx'

type Schedule = NonNullable<BackupsBody['schedule']>

const path = '/api/admin/backups/'
/** No message announces a change of this list. */
const topics = [] as const
const refreshMs = 2_000

export function Backups() {
  const resource = useResource(path, 'object', topics, refreshMs)
  return (
    <Shell title={t('backups.title')} intro={t('backups.intro')}>
      <Loaded resource={resource}>
        {(body) =>
          body.schedule === null ? (
            <Unscheduled body={body} />
          ) : (
            <Scheduled body={body} schedule={body.schedule} reload={resource.reload} />
          )
        }
      </Loaded>
    </Shell>
  )
}

const exampleLines = `backup:
  folder: /media/usb/micwatch
  at: "04:45"
  keep: 7`

function Unscheduled({ body: { configuration_file, last_at } }: { body: BackupsBody }) {
  return (
    <Empty title={t('backups.none.title')}>
      <p>{t('backups.none.next', { file: plainText(configuration_file ?? 'micwatch.yaml') })}</p>
      <pre className="file-lines">{exampleLines}</pre>
      <p>{t('backups.none.folder')}</p>
      <p>
        {t('backups.none.last')} <Ago at={last_at} />
      </p>
      <Guide />
    </Empty>
  )
}

function Guide() {
  const { mount } = useServices()
  return <a href={`${mount}/help/backup.html#scheduled-backups`}>{t('backups.guide')}</a>
}

interface ScheduledProps {
  readonly body: BackupsBody
  readonly schedule: Schedule
  reload(): Promise<void>
}

function Scheduled({ body, schedule, reload }: ScheduledProps) {
  const { failure, folder_error, free_bytes, backups } = body
  return (
    <>
      {failure === null ? null : <Failure failure={failure} />}
      {folder_error === null || failure?.error === folder_error ? null : (
        <div className="failure-box" role="alert">
          <StateIcon state="battery_critical" />
          <p>{toSentence(plainText(folder_error))}</p>
        </div>
      )}
      <section className="box">
        <Pairs
          pairs={[
            { name: t('backups.next'), value: <Next body={body} /> },
            { name: t('backups.last'), value: <Last body={body} /> },
            { name: t('backups.schedule'), value: scheduleText(schedule) },
            { name: t('backups.folder'), value: plainText(schedule.folder) },
            { name: t('backups.free'), value: free_bytes === null ? t('parts.unknown') : formatBytes(free_bytes) },
            {
              name: t('backups.kept'),
              value: t(schedule.with_history ? 'backups.keptWithLevels' : 'backups.keptWithoutLevels', {
                count: schedule.keep,
              }),
            },
          ]}
        />
        <BackUpNow body={body} reload={reload} />
      </section>
      {folder_error !== null && backups.length === 0 ? null : <BackupFiles backups={backups} />}
      <Restore backups={backups} />
      <p>
        <Guide />
      </p>
    </>
  )
}

function Failure({ failure: { at, error } }: { failure: NonNullable<BackupsBody['failure']> }) {
  return (
    <div className="failure-box" role="alert">
      <StateIcon state="battery_critical" />
      <p>
        <strong>
          {t('backups.failed')} (<Ago at={at} />)
        </strong>{' '}
        {toSentence(plainText(error))}
      </p>
    </div>
  )
}

function Next({ body: { next_at, running_since, folder_error } }: { body: BackupsBody }) {
  const now = useNow()
  if (folder_error !== null) return t('backups.whenUsable')
  if (next_at !== null) {
    const time = formatShortDuration(Date.parse(next_at) - now)
    return t('backups.nextIn', { at: formatPeriod(next_at, null), time })
  }
  return running_since === null ? t('backups.overdue') : t('backups.now')
}

/** Without a list of files, only the time is known. */
function Last({ body: { backups, last_at } }: { body: BackupsBody }) {
  const [backup] = backups
  if (backup === undefined) return <Ago at={last_at} />
  const { written_at, bytes, duration_ms } = backup
  const values = [formatBytes(bytes), t('backups.took', { time: formatDuration(Math.max(1000, duration_ms)) })]
  return (
    <>
      <Ago at={written_at} /> · {formatPeriod(written_at, null)} · {values.join(' · ')}
    </>
  )
}

function scheduleText({ at, days, time_zone }: Schedule): string {
  if (days.length === weekdays.length) return t('backups.everyDay', { at, zone: time_zone })
  const names = days.map((day) => formatWeekday(weekdays.indexOf(day)))
  return t('backups.onDays', { at, zone: time_zone, days: formatList(names) })
}

function BackUpNow({ body, reload }: { body: BackupsBody; reload: () => Promise<void> }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const [startedAt, setStartedAt] = useState<string | null>(null)
  const { running_since, writer, backups } = body
  const written = backups.find(({ written_at }) => written_at === startedAt)
  useEffect(() => {
    if (written === undefined) return
    setStartedAt(null)
    showMessage({ text: t('backups.written', { size: formatBytes(written.bytes) }) })
  }, [written, showMessage])
  const start = async () => {
    const response = await send(() => api.write('POST', path, undefined, 'object'))
    if (!response?.ok) return
    setStartedAt(response.body.started_at)
    await reload()
  }
  return (
    <div className="backup-now">
      <button
        type="button"
        className="action"
        disabled={isSending || running_since !== null || writer?.responds !== true}
        onClick={start}
      >
        {t('backups.start')}
      </button>
      <span className="hint" role="status">
        {running_since === null ? writerText(writer) : <Running since={running_since} />}
      </span>
      {problem === null ? null : <ProblemLine problem={problem} />}
    </div>
  )
}

function Running({ since }: { since: string }) {
  const now = useNow()
  return t('backups.running', { time: formatDuration(now - Date.parse(since)) })
}

function writerText(writer: BackupsBody['writer']): string | null {
  if (writer === null) return t('backups.noWriter')
  const { host, pid, responds } = writer
  return responds ? null : t('backups.otherWriter', { host: plainText(host), pid })
}
