import { Upload } from 'lucide-react'
import { useState } from 'react'
import type { ScanBody, UploadedScanBody } from '../../src/contract/scans.ts'
import type { Problem } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { Resource } from '../app/resource.ts'
import type { Selection } from '../app/selection.ts'
import { useMay } from '../app/session.ts'
import { Dialog, DialogEnd, FormDialog, Removal } from '../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Field } from '../parts/forms/field.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { traceVariable } from './colours.ts'

type ShownScans = Pick<Selection, 'ids' | 'has' | 'toggle'>

interface ScansProps {
  readonly resource: Resource<readonly ScanBody[]>
  readonly shown: ShownScans
}

export function Scans({ resource, shown }: ScansProps) {
  const mayOperate = useMay('operate')
  const [isUploading, setUploading] = useState(false)
  const [removed, setRemoved] = useState<ScanBody | null>(null)
  return (
    <section className="frequencies-section screen-only" aria-label={t('frequencies.scans.title')}>
      <header className="conflicts-head">
        <h2>{t('frequencies.scans.title')}</h2>
        {mayOperate ? (
          <button type="button" className="choice" onClick={() => setUploading(true)}>
            <Upload className="icon" aria-hidden="true" />
            {t('frequencies.scans.upload')}
          </button>
        ) : null}
      </header>
      <Loaded resource={resource}>
        {(scans) =>
          scans.length === 0 ? (
            <p className="box-note">{t('frequencies.scans.none')}</p>
          ) : (
            <ul className="scan-list">
              {scans.map((scan) => (
                <ScanItem key={scan.id} scan={scan} shown={shown} onRemove={mayOperate ? setRemoved : null} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isUploading ? <UploadScan onDone={resource.reload} onClose={() => setUploading(false)} /> : null}
      {removed === null ? null : (
        <Removal
          title={t('frequencies.scans.removeTitle', { name: plainText(removed.name) })}
          action={t('frequencies.scans.remove')}
          done={t('frequencies.scans.removed')}
          path={`/api/scans/${removed.id}/`}
          onDone={resource.reload}
          onClose={() => setRemoved(null)}
        >
          <p>{t('frequencies.scans.removeText')}</p>
        </Removal>
      )}
    </section>
  )
}

interface ScanItemProps {
  readonly scan: ScanBody
  readonly shown: ShownScans
  readonly onRemove: ((scan: ScanBody) => void) | null
}

function ScanItem({ scan, shown, onRemove }: ScanItemProps) {
  const { id, format, calibrated, points, from_mhz, to_mhz, taken_at, uploaded_at, by } = scan
  const name = plainText(scan.name)
  const index = shown.ids.indexOf(id)
  const facts = [
    t(`frequencies.scans.formats.${format}`),
    t('frequencies.scans.range', { from: from_mhz, to: to_mhz, count: points }),
    calibrated ? null : t('frequencies.scans.notCalibrated'),
    taken_at === null ? null : t('frequencies.scans.taken', { time: formatMoment(taken_at) }),
    t('frequencies.scans.uploaded', { time: formatMoment(uploaded_at), by: plainText(by) }),
  ]
  return (
    <li className="scan">
      <label className="tick">
        <input type="checkbox" checked={shown.has(id)} onChange={() => shown.toggle(id)} />
        <span>
          <span
            className="scan-sign"
            aria-hidden="true"
            style={{ background: index < 0 ? 'transparent' : traceVariable(index) }}
          />
          <bdi>{name}</bdi>
        </span>
      </label>
      <span className="box-note">{facts.filter((fact) => fact !== null).join(' · ')}</span>
      {onRemove === null ? null : (
        <button type="button" className="choice" onClick={() => onRemove(scan)}>
          {t('frequencies.scans.remove')}
          <span className="visually-hidden"> {name}</span>
        </button>
      )}
    </li>
  )
}

function UploadScan({ onDone, onClose }: { onDone(): Promise<void>; onClose(): void }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const [incomplete, setIncomplete] = useState<UploadedScanBody | null>(null)
  const send = (values: FormData) => {
    const form = new FormData()
    const offset = String(values.get('offset_db')).trim().replace(',', '.').replace('−', '-')
    if (offset !== '') form.append('offset_db', offset)
    form.append('file', values.get('file') ?? '')
    return api.upload('/api/scans/', form)
  }
  const done = async (uploaded: UploadedScanBody) => {
    const { name, points, rows_read, rows_skipped } = uploaded
    if (rows_skipped.length > 0) setIncomplete(uploaded)
    else {
      onClose()
      showMessage({ text: t('frequencies.scans.done', { name: plainText(name), count: points, rows: rows_read }) })
    }
    await onDone()
  }
  if (incomplete !== null) return <SkippedRows scan={incomplete} onClose={onClose} />
  return (
    <FormDialog
      title={t('frequencies.scans.uploadTitle')}
      action={t('frequencies.scans.upload')}
      check={fileProblem}
      {...{ send, onClose }}
      onDone={done}
    >
      <Field
        name="file"
        type="file"
        label={t('frequencies.scans.file')}
        hint={t('frequencies.scans.fileHint')}
        accept=".csv,.txt,.sdb2,.sdb3,.rfe,.spa,.dat,.asc,.xls"
      />
      <Field
        name="offset_db"
        label={t('frequencies.scans.offset')}
        hint={t('frequencies.scans.offsetHint')}
        required={false}
        inputMode="text"
        autoComplete="off"
      />
    </FormDialog>
  )
}

function SkippedRows({ scan, onClose }: { scan: UploadedScanBody; onClose(): void }) {
  const { name, points, rows_read, rows_skipped } = scan
  return (
    <Dialog title={t('frequencies.scans.skippedTitle', { name: plainText(name) })} onClose={onClose}>
      <p>{t('frequencies.scans.done', { name: plainText(name), count: points, rows: rows_read })}</p>
      <ul className="skipped-rows" aria-label={t('frequencies.scans.skippedRows')}>
        {rows_skipped.map(({ line, why }) => (
          <li key={`${line} ${why}`}>{t('frequencies.scans.skipped', { line, why: plainText(why) })}</li>
        ))}
      </ul>
      <DialogEnd text={t('parts.dialog.close')} onClose={onClose} />
    </Dialog>
  )
}

function fileProblem(values: FormData): Problem | null {
  const file = values.get('file')
  if (file instanceof File && file.size > 0) return null
  return { kind: 'refused', field: 'file', detail: t('frequencies.scans.fileExpected') }
}
