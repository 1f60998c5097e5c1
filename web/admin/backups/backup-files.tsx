import type { BackupsBody } from '../../../src/contract/backups.ts'
import { formatBytes, formatDateTime, formatDuration, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Empty } from '../../parts/empty.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'

export type Backup = BackupsBody['backups'][number]

const columns: readonly Column<Backup>[] = [
  { key: 'written_at', title: t('backups.columns.time'), cell: ({ written_at }) => formatDateTime(written_at) },
  { key: 'file', title: t('backups.columns.file'), cell: ({ file }) => <bdi>{plainText(file)}</bdi> },
  { key: 'bytes', title: t('backups.columns.size'), align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
  {
    key: 'duration',
    title: t('backups.columns.duration'),
    align: 'end',
    cell: ({ duration_ms }) => formatDuration(Math.max(1000, duration_ms)),
  },
  {
    key: 'levels',
    title: t('backups.columns.levels'),
    cell: ({ with_history }) => t(with_history ? 'backups.included' : 'backups.notIncluded'),
  },
  {
    key: 'state',
    title: t('backups.columns.state'),
    cell: ({ state }) => (
      <span className="tag" data-tone={state === 'present' ? 'good' : 'bad'}>
        {t(`backups.states.${state}`)}
      </span>
    ),
  },
]

export function BackupFiles({ backups }: { backups: readonly Backup[] }) {
  return (
    <section className="overview-section">
      <h2>{t('backups.list')}</h2>
      {backups.length === 0 ? (
        <Empty title={t('backups.empty')}>
          <p>{t('backups.emptyNext')}</p>
        </Empty>
      ) : (
        <DataTable caption={t('backups.list')} columns={columns} rows={backups} idOf={({ file }) => file} />
      )}
    </section>
  )
}
