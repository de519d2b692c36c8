import asyncio

async def main():
    await asyncio.start_server(lambda r, w: None, '127.0.0.1', 0)

asyncio.run(main())
