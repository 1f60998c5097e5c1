import { useId, useState } from 'react'
import { formatDateTime, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { CopyField } from '../../parts/forms/copy-field.tsx'
import type { Backup } from './backup-files.tsx'

/** Restoring replaces the database, so it is a command, which runs while the service is stopped. */
export function Restore({ backups }: { backups: readonly Backup[] }) {
  const id = useId()
  const [chosen, setChosen] = useState<string | null>(null)
  const present = backups.filter(({ state }) => state === 'present')
  const backup = present.find(({ file }) => file === chosen) ?? present[0]
  if (backup === undefined) return null
  return (
    <section className="box">
      <h2>{t('backups.restore.title')}</h2>
      <p className="labelled-choice">
        <label htmlFor={id}>{t('backups.restore.choice')}</label>
        <select id={id} className="choice" value={backup.file} onChange={({ target }) => setChosen(target.value)}>
          {present.map(({ file, written_at }) => (
            <option key={file} value={file}>
              {formatDateTime(written_at)}
            </option>
          ))}
        </select>
      </p>
      <ol className="backup-steps">
        <li>{t('backups.restore.stop')}</li>
        <li>
          {t('backups.restore.run')}
          <CopyField label={t('backups.restore.command')} text={commandFor(plainText(backup.path))} />
        </li>
        <li>{t('backups.restore.begin')}</li>
      </ol>
      <p className="hint">{t('backups.restore.note')}</p>
    </section>
  )
}

function commandFor(path: string): string {
  return `micwatch restore ${/^[\w./\\:-]+$/.test(path) ? path : `"${path}"`} --force`
}
