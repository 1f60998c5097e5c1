import { Download } from 'lucide-react'
import { type CarrierFormat, carrierFormats } from '../../src/contract/values.ts'
import { t } from '../app/i18n.ts'
import { Menu } from '../parts/toolbar/menu.tsx'

/** `list` is the same file as `wwb`. */
const offered = carrierFormats.filter((format) => format !== 'list')

interface ExportMenuProps {
  /** For screen readers: names the carriers that are exported. */
  readonly name?: string
  /** Returns the address of the file, or its text if it is made here. */
  fileOf(format: CarrierFormat): { readonly address: string } | { readonly text: () => string }
}

export function ExportMenu({ name, fileOf }: ExportMenuProps) {
  return (
    <Menu
      button={
        <>
          <Download className="icon" aria-hidden="true" />
          {t('frequencies.export.action')}
          {name === undefined ? null : <span className="visually-hidden"> {name}</span>}
        </>
      }
    >
      {offered.map((format) => {
        const file = fileOf(format)
        const title = t(`frequencies.export.formats.${format}`)
        if ('address' in file) {
          return (
            <a key={format} className="choice" href={file.address} download>
              {title}
            </a>
          )
        }
        return (
          <button key={format} type="button" className="choice" onClick={() => download(file.text())}>
            {title}
          </button>
        )
      })}
    </Menu>
  )
}

function download(text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  link.download = 'frequencies.csv'
  link.click()
  // The browser has begun to read the file when the click returns.
  setTimeout(() => URL.revokeObjectURL(link.href))
}
