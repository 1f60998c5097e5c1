import { useSurroundings } from '../context.ts'
import { Notice } from '../parts/notice.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { words } from '../words.ts'

export function UnknownPage() {
  const { mount } = useSurroundings()
  return (
    <>
      <TopBar current={null} />
      <main className="content">
        <h1 className="for-listeners">{words.product}</h1>
        <Notice title={words.unknownPage.title}>
          <p>
            <a href={`${mount}/`}>{words.unknownPage.home}</a>
          </p>
        </Notice>
      </main>
    </>
  )
}
